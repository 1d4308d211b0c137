import type { Socket } from "node:net";
import { deferred } from "./deferred.js";

/** Bytes that are held back, together with all later bytes of the same connection and direction. */
export interface Hold {
  /** Resolves when the text has arrived. */
  readonly reached: Promise<void>;
  release(): void;
}

/** A fault that happens once, at the next bytes that contain the text. */
export interface InjectedFault {
  readonly text: string;
  /** If set, the fault waits until the client has sent this text on the same connection. */
  readonly behind?: string | undefined;
  /** Number of the connection on which the client has sent `behind`. */
  armedOn?: number;
  readonly inject: (connection: Connection, data: Buffer) => Buffer;
}

/** One direction of a connection. */
export interface Connection {
  readonly number: number;
  readonly from: Socket;
  /** The bytes that are held back; undefined if nothing is held. */
  held: Buffer[] | undefined;
  forward(data: Buffer): void;
}

/** Closes the connection instead of forwarding the bytes. */
export function cut({ from }: Connection, data: Buffer): Buffer {
  from.destroy();
  return data;
}

/** Arms the faults whose `behind` text is in these bytes. */
export function arm(faults: InjectedFault[], connection: number, data: Buffer): void {
  for (const fault of faults) {
    if (fault.behind !== undefined && data.includes(fault.behind)) fault.armedOn = connection;
  }
}

/** Removes and returns the first fault that these bytes trigger. */
export function takeFault(faults: InjectedFault[], connection: number, data: Buffer): InjectedFault | undefined {
  const index = faults.findIndex(
    ({ text, behind, armedOn }) => data.includes(text) && (behind === undefined || armedOn === connection),
  );
  return index < 0 ? undefined : faults.splice(index, 1)[0];
}

/** Adds a fault that holds back the bytes from a text on. */
export function hold(at: Pick<InjectedFault, "text" | "behind">, faults: InjectedFault[]): Hold {
  let connection: Connection | undefined;
  const { promise: reached, resolve } = deferred();
  faults.push({
    ...at,
    inject(sprung, data) {
      const start = data.indexOf(at.text);
      connection = sprung;
      connection.forward(data.subarray(0, start));
      connection.held = [];
      resolve();
      return data.subarray(start);
    },
  });
  return {
    reached,
    release() {
      const held = connection?.held ?? [];
      if (connection !== undefined) connection.held = undefined;
      for (const data of held) connection?.forward(data);
    },
  };
}
