/* gate_means.h - e-foldings from the gates' means. Inside retention only.
 */
#ifndef GS_ANALYSES_RETENTION_GATE_MEANS_H
#define GS_ANALYSES_RETENTION_GATE_MEANS_H

/* −1/E[γ] and −1/log E[α], in tokens, from Σγ and Σ(1 − α) over `steps` > 0 rows; infinite where
 * nothing is forgotten, 0 where all is. */
double gs_geometric_efold(double log_decay, double steps);
double gs_arithmetic_efold(double loss, double steps);

#endif
