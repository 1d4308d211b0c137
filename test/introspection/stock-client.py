"""Reads health and definitions from the listener at argv[1] and builds a service from them, with protoc's stubs only."""
import sys

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool
from grpc_stubs.reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from health.v1 import health_pb2, health_pb2_grpc

SERVICE = "cupo.access.v1.PatientService"

channel = grpc.insecure_channel(sys.argv[1].removeprefix("http://"))
health = health_pb2_grpc.HealthStub(channel)
checked = health.Check(health_pb2.HealthCheckRequest(service=SERVICE), timeout=20)
print("check", health_pb2.HealthCheckResponse.ServingStatus.Name(checked.status))
watching = health.Watch(health_pb2.HealthCheckRequest())
print("watch", health_pb2.HealthCheckResponse.ServingStatus.Name(next(watching).status))
watching.cancel()

reflection = reflection_pb2_grpc.ServerReflectionStub(channel)


def ask(**question):
    return next(reflection.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest(**question)]), timeout=20))


print("services", len(ask(list_services="").list_services_response.service))
files = {}
for serialized in ask(file_containing_symbol=SERVICE).file_descriptor_response.file_descriptor_proto:
    parsed = descriptor_pb2.FileDescriptorProto.FromString(serialized)
    files[parsed.name] = parsed
pool = descriptor_pool.DescriptorPool()


def add(name):
    parsed = files.pop(name, None)
    if parsed is not None:
        for imported in parsed.dependency:
            add(imported)
        pool.Add(parsed)


for name in list(files):
    add(name)
print("methods", ",".join(method.name for method in pool.FindServiceByName(SERVICE).methods))
