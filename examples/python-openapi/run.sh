#!/bin/sh
# Writes functions of the documents that the service gives, and runs the program with them.
set -eu
cd "$(dirname "$0")/../.."
out=build/examples/python-openapi
mkdir -p "$out"
python3 examples/python-openapi/generate.py "${CUPO_PUBLIC:-http://127.0.0.1:8080/api/external/v1}/openapi.json" > "$out/access.py"
python3 examples/python-openapi/generate.py "${CUPO_INTERNAL:-http://127.0.0.1:9090}/openapi.json" > "$out/clinic.py"
PYTHONPATH="$out" PYTHONDONTWRITEBYTECODE=1 python3 examples/python-openapi/book.py
