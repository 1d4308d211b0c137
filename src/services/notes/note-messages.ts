import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Note, NoteSchema } from "../../gen/cupo/clinic/v1/note_pb.js";
import type { NoteRecord } from "../../postgres/tables/notes/notes.js";

/** Converts a note record to the Note message with its text, for the response to a read. */
export function toNote({ id: noteId, createdAt, updatedAt, ...rest }: NoteRecord): Note {
  const present = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const times = { createdAt: timestampFromDate(createdAt), updatedAt: timestampFromDate(updatedAt) };
  return create(NoteSchema, { ...present, ...times, noteId });
}

/**
 * Converts a note record to the Note message without its text, for the response to a change. Cupo stores each response
 * to a change, to repeat it for the same idempotency key. The text must not be in these stored responses.
 */
export function toChangedNote(note: NoteRecord): Note {
  return toNote({ ...note, text: undefined });
}
