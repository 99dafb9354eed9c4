/* style.h - the page's style sheet, inline in its head. */
#ifndef GS_REPORTS_PAGE_STYLE_H
#define GS_REPORTS_PAGE_STYLE_H

extern const char gs_page_style[];

#endif
