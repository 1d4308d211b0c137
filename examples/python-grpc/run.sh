#!/bin/sh
# Makes stubs of the protos and runs the program. PYTHON names the interpreter. By default it is python3, or Debian's own where
# python3 is another that does not have the packages.
set -eu
cd "$(dirname "$0")/../.."
out=build/examples/python-grpc
node scripts/export-protos.mjs "$out/protos" > /dev/null
mkdir -p "$out/gen"
(cd "$out/protos/protos" && find . -name '*.proto' | cut -c3-) | xargs protoc -I "$out/protos/protos" \
  --python_out="$out/gen" --grpc_out="$out/gen" --plugin=protoc-gen-grpc="$(command -v grpc_python_plugin)"
for python in ${PYTHON:-python3 /usr/bin/python3}; do
  if "$python" -c 'import grpc, google.protobuf' 2> /dev/null; then break; fi
done
PYTHONPATH="$out/gen" PYTHONDONTWRITEBYTECODE=1 "$python" examples/python-grpc/book.py
