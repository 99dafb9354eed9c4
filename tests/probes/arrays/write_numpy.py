"""Arrays as numpy saves them, of every type, order and number of axes: python3 write_numpy.py FOLDER.

Beside each X.npy stands X.raw: the same elements, row-major, as little-endian float64.
"""
import os
import sys

import numpy as np

random = np.random.default_rng(1)
kinds = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]
shapes = [(), (1,), (7,), (3, 4), (5, 1), (2, 3, 4), (2, 1, 3, 2), (1, 2, 1, 3, 1, 2, 2, 1)]


def save(name, array, version=None):
    with open(os.path.join(sys.argv[1], name + ".npy"), "wb") as stream:
        np.lib.format.write_array(stream, array, version=version)
    np.ascontiguousarray(array).astype("<f8").tofile(os.path.join(sys.argv[1], name + ".raw"))


for kind in kinds:
    for order in "<>":
        for memory in "CF":
            for number, shape in enumerate(shapes):
                values = random.normal(size=shape) * 50
                dtype = np.dtype(kind) if kind == "?" else np.dtype(order + kind)
                if dtype.kind in "u?":
                    values = np.abs(values)
                array = np.asarray(values).astype(dtype)
                array = np.asfortranarray(array) if memory == "F" else array
                name = "%s_%s_%s_%d" % (kind.replace("?", "bool"), "little" if order == "<" else "big", memory, number)
                save(name, array, (1 + number % 3, 0))
# views: numpy copies them in order
base = np.arange(60, dtype="f4").reshape(3, 4, 5)
save("view_reversed", base[::-1, ::2])
save("view_transposed", base.transpose(2, 0, 1))
save("special", np.array([np.inf, -np.inf, 0.0, -0.0, np.finfo("f4").max, np.finfo("f4").tiny / 4], dtype="f4"))
