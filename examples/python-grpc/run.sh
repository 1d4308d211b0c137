#!/bin/sh
# Makes stubs of the protos and runs the program. PYTHON is the interpreter that has the packages.
set -eu
cd "$(dirname "$0")/../.."
out=build/examples/python-grpc
node scripts/export-protos.mjs "$out/protos" > /dev/null
mkdir -p "$out/gen"
(cd "$out/protos/protos" && find . -name '*.proto' | cut -c3-) | xargs protoc -I "$out/protos/protos" \
  --python_out="$out/gen" --grpc_out="$out/gen" --plugin=protoc-gen-grpc="$(command -v grpc_python_plugin)"
PYTHONPATH="$out/gen" PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-python3}" examples/python-grpc/book.py
