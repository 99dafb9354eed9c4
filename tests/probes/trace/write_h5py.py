"""Traces as h5py can write them: python3 write_h5py.py FOLDER. One file a way, all of them right.

state/<stream>[r, j] = (r * 5 + j) / 8 - 2 of 12 rows in two sequences, of 4 and 8.
"""
import os
import sys

import h5py
import numpy as np

rows, width = 12, 5
values = (np.arange(rows * width, dtype=np.float64) / 8 - 2).reshape(rows, width)
start = np.array([0, 4, 12])


def begin(name, **options):
    file = h5py.File(os.path.join(sys.argv[1], name + ".h5"), "w", **options)
    file.attrs["format"] = "gpn-trace"
    file.attrs["version"] = 1
    return file


def plain(name, states="<f4", starts=start, **options):
    file = begin(name, **options)
    file["sequence/start"] = starts
    if states:
        file["state/predicted"] = values.astype(states)
    return file


# files: versions of the format, ways to keep groups, to manage space, to begin late
plain("plain").close()
plain("version_108", libver=("v108", "v108")).close()
plain("version_110", libver=("v110", "v110")).close()
plain("user_block", userblock_size=512).close()
plain("track_order", track_order=True).close()
plain("pages", fs_strategy="page", fs_page_size=4096).close()
plain("free_space", fs_strategy="fsm", fs_persist=True).close()

# how a dataset lies in the file
ways = {
    "chunked": dict(chunks=(4, width)),
    "chunks_of_columns": dict(chunks=(5, 2)),
    "resizable": dict(chunks=(5, 3), maxshape=(None, None)),
    "gzip": dict(chunks=(4, width), compression="gzip"),
    "shuffle": dict(chunks=(7, width), compression="gzip", shuffle=True),
    "checksum": dict(chunks=(4, width), fletcher32=True),
}
for version in ("v108", "v110"):
    for name, options in ways.items():
        with plain(name + "_" + version, states=None, libver=("earliest", version)) as file:
            file.create_dataset("state/predicted", data=values.astype("<f4"), **options)
with plain("row_by_row", states=None) as file:
    data = file.create_dataset("state/predicted", shape=(0, width), dtype="f4", maxshape=(None, width))
    for row in range(rows):
        data.resize(row + 1, axis=0)
        data[row] = values[row]
with plain("shrunk", states=None) as file:
    data = file.create_dataset("state/predicted", shape=(99, width), dtype="f4", maxshape=(None, width),
                               chunks=(3, width))
    data[:] = 7
    data[:rows] = values
    data.resize(rows, axis=0)
with plain("compact", states=None) as file:
    way = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    way.set_layout(h5py.h5d.COMPACT)
    space = h5py.h5s.create_simple((rows, width))
    data = h5py.h5d.create(file.create_group("state").id, b"predicted", h5py.h5t.IEEE_F32LE, space, way)
    data.write(h5py.h5s.ALL, h5py.h5s.ALL, values.astype("<f4"))
with plain("links", states=None) as file:
    file["hidden"] = values
    file.create_group("state")
    file["state/soft"] = h5py.SoftLink("/hidden")
    file["state/hard"] = file["hidden"]
with plain("linked_group", states=None) as file:
    file["runs/first/predicted"] = values
    file["state"] = h5py.SoftLink("/runs/first")

# types of numbers
for dtype in ("<f2", ">f2", "<f4", ">f4", "<f8", ">f8", np.longdouble):
    plain("states_" + np.dtype(dtype).str.replace("<", "little_").replace(">", "big_"), dtype).close()
for dtype in ("i1", "u1", "<i2", ">i2", "<u4", ">u4", "<i8", ">u8"):
    with plain("starts_" + dtype.replace("<", "little_").replace(">", "big_"), starts=start.astype(dtype)) as file:
        file["token"] = np.arange(rows).astype(dtype)
        file["nll"] = np.ones(rows, dtype="<f2")
        file["sequence/rows_written"] = np.array([4, 8]).astype(dtype)
with plain("bfloat16", states=None) as file:
    kind = h5py.h5t.IEEE_F32LE.copy()
    kind.set_fields(15, 7, 8, 0, 7)
    kind.set_size(2)
    kind.set_ebias(127)
    space = h5py.h5s.create_simple((rows, width))
    data = h5py.h5d.create(file.create_group("state").id, b"predicted", kind, space)
    data.write(h5py.h5s.ALL, h5py.h5s.ALL, values.astype("<f4"))

# texts
names = ["eins", "zwei é"]
for name, options in {
    "variable": dict(data=names, dtype=h5py.string_dtype()),
    "variable_ascii": dict(data=["eins", "zwei"], dtype=h5py.string_dtype("ascii")),
    "variable_gzip": dict(data=names, dtype=h5py.string_dtype(), chunks=(1,), compression="gzip"),
    "fixed": dict(data=[text.encode() for text in names], dtype=h5py.string_dtype("utf-8", 10)),
    "fixed_bytes": dict(data=np.array([b"eins", b"zwei"])),
    "objects": dict(data=np.array(names, dtype=object), dtype=h5py.string_dtype()),
    "empty": dict(data=["", ""], dtype=h5py.string_dtype()),
}.items():
    with plain("names_" + name) as file:
        file.create_dataset("sequence/name", **options)
with plain("attributes") as file:
    file.attrs["format"] = np.array(["gpn-trace"], dtype=h5py.string_dtype())
    file.attrs["version"] = np.array([1], dtype=">i2")
    file.attrs["complete"] = np.bool_(True)
    file.attrs["step"] = np.array(7.0)
    file.attrs["seed"] = np.uint64(2**63 - 1)
    file.attrs["config"] = np.bytes_('{"model": {"vocab_size": 50}}')
    file.attrs["model"] = h5py.Empty("S1")
    file.attrs["somebody's"] = file["state/predicted"].ref
with plain("many_attributes", libver=("v110", "v110")) as file:
    for number in range(40):
        file.attrs["a%d" % number] = number

# several streams, memories, and what else there may be
with plain("many_streams", states=None) as file:
    for layer in range(12):
        file["state/layer%02d" % layer] = values
    file["state/final"] = values
with plain("empty_sequence", starts=[0, 4, 4, 12]) as file:
    pass
with plain("everything_else") as file:
    file["memory/m/log_decay"] = -values[:, :2] ** 2
    file["memory/m/remarks"] = "x"
    file["read/m/share"] = values[:, :1] ** 2
    file["pairs"] = np.zeros(2, dtype=[("a", "f4"), ("b", "i4")])
    file["lists"] = np.array([1, 2])
    file["kind"] = np.dtype("f4")
    file["nothing"] = h5py.Empty("f4")
    file["loop"] = file["/"]
    file["lost"] = h5py.SoftLink("/nowhere")
    file["elsewhere"] = h5py.ExternalLink("nowhere.h5", "/state")
with plain("scales") as file:
    file["x"] = np.arange(rows)
    file["x"].make_scale("row")
    file["state/predicted"].dims[0].attach_scale(file["x"])
