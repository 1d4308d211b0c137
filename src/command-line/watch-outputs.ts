/**
 * Calls `fail` if standard output or standard error cannot be written, for example because the disk is full. Ignores
 * that the reader of an output has ended, as `head` does after its last line: the command then works on.
 */
export function watchOutputs(fail: (error: unknown) => void): void {
  for (const output of [process.stdout, process.stderr]) {
    output.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") fail(error);
    });
  }
}
