import type { DescService } from "@bufbuild/protobuf";

/** A language for which protoc generates stubs, and the expected content of the files. */
export interface StubLanguage {
  readonly language: string;
  /** The plugin programs besides protoc, including `protoc-gen-…` from npm. */
  readonly plugins: readonly string[];
  /** The Debian packages with the plugins. */
  readonly packages: string;
  /**
   * Returns the options of protoc for output into a folder. `programs` are the paths of the plugins, in their order.
   */
  options(folder: string, programs: readonly string[]): readonly string[];
  /** Returns the file that must contain a service, and its declaration there. */
  place(service: DescService): { readonly file: string; readonly declaration: string };
  readonly proof?: StubProof;
}

/** Shell scripts with which the compiler or interpreter of a language checks stubs. They exit with 0 on success. */
export interface StubProof {
  /** Checks whether the compiler and the libraries are installed. */
  readonly probe: string;
  /** The Debian packages with the compiler and the libraries. */
  readonly packages: string;
  /** Checks the stubs in the working directory. */
  readonly script: string;
}

const grpc = (folder: string, plugin = "") => [`--grpc_out=${folder}`, `--plugin=protoc-gen-grpc=${plugin}`];
const pathOf = ({ file }: DescService) => file.name;
const folderOf = ({ file }: DescService) => file.proto.package.replaceAll(".", "/");
const GRPC_PLUGINS = "protobuf-compiler-grpc";

const pythonProof: StubProof = {
  probe: "/usr/bin/python3 -c 'import google.protobuf'",
  packages: "python3-protobuf",
  script: `/usr/bin/python3 - <<'END'
import google, importlib, pathlib
google.__path__.append("google")
for path in pathlib.Path("cupo").rglob("*_pb2.py"):
    importlib.import_module(".".join(path.with_suffix("").parts))
END`,
};

const rubyProof: StubProof = {
  probe: "ruby --version",
  packages: "ruby",
  script: `ruby -e 'Dir["cupo/**/*.rb"].each { |file| RubyVM::InstructionSequence.compile_file(file) }'`,
};

const cppProof: StubProof = {
  probe: `printf '#if !__has_include(<google/protobuf/message.h>)\\n#error absent\\n#endif\\n' | g++ -E -x c++ -`,
  packages: "g++ libprotobuf-dev",
  script: `find cupo -name '*.pb.h' ! -name '*.grpc.pb.h' | sed 's/.*/#include "&"/' | g++ -fsyntax-only -I. -x c++ -`,
};

/** The languages to test, of those that protoc can generate. */
export const stubLanguages: readonly StubLanguage[] = [
  {
    language: "TypeScript",
    plugins: ["protoc-gen-es"],
    packages: "none, but npm's @bufbuild/protoc-gen-es",
    options: (folder, [plugin]) => [`--es_out=${folder}`, "--es_opt=target=ts", `--plugin=${plugin}`],
    place: (service) => ({
      file: `${pathOf(service)}_pb.ts`,
      declaration: `export const ${service.name}: GenService<`,
    }),
  },
  {
    language: "Python",
    plugins: ["grpc_python_plugin"],
    packages: GRPC_PLUGINS,
    options: (folder, [plugin]) => [`--python_out=${folder}`, ...grpc(folder, plugin)],
    place: (service) => ({ file: `${pathOf(service)}_pb2_grpc.py`, declaration: `class ${service.name}Stub(` }),
    proof: pythonProof,
  },
  {
    language: "Go",
    plugins: ["protoc-gen-go", "protoc-gen-go-grpc"],
    packages: "protoc-gen-go protoc-gen-go-grpc",
    options: (folder) => [`--go_out=${folder}`, `--go-grpc_out=${folder}`],
    place: (service) => ({
      file: `${pathOf(service)}_grpc.pb.go`,
      declaration: `type ${service.name}Client interface`,
    }),
  },
  {
    language: "Java",
    plugins: ["grpc_java_plugin"],
    packages: "protobuf-compiler-grpc-java-plugin",
    options: (folder, [plugin]) => [`--java_out=${folder}`, ...grpc(folder, plugin)],
    place: (service) => ({
      file: `${folderOf(service)}/${service.name}Grpc.java`,
      declaration: `public final class ${service.name}Grpc {`,
    }),
  },
  {
    language: "C#",
    plugins: [],
    packages: "",
    options: (folder) => [`--csharp_out=${folder}`, "--csharp_opt=base_namespace="],
    place: (service) => ({
      file: `${folderOf(service).replace(/(?<=^|\/)./g, (letter) => letter.toUpperCase())}/${service.name}.cs`,
      declaration: `public static partial class ${service.name}Reflection {`,
    }),
  },
  {
    language: "Ruby",
    plugins: ["grpc_ruby_plugin"],
    packages: GRPC_PLUGINS,
    options: (folder, [plugin]) => [`--ruby_out=${folder}`, ...grpc(folder, plugin)],
    place: (service) => ({ file: `${pathOf(service)}_services_pb.rb`, declaration: `module ${service.name}` }),
    proof: rubyProof,
  },
  {
    language: "C++",
    plugins: ["grpc_cpp_plugin"],
    packages: GRPC_PLUGINS,
    options: (folder, [plugin]) => [`--cpp_out=${folder}`, ...grpc(folder, plugin)],
    place: (service) => ({ file: `${pathOf(service)}.grpc.pb.h`, declaration: `class ${service.name} final {` }),
    proof: cppProof,
  },
];
