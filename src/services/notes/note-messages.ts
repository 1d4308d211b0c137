import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Note, NoteSchema } from "../../gen/cupo/clinic/v1/note_pb.js";
import type { NoteRecord } from "../../postgres/tables/notes/notes.js";

/** The message of a note that is read. */
export function toNote({ id: noteId, createdAt, updatedAt, ...rest }: NoteRecord): Note {
  const present = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const times = { createdAt: timestampFromDate(createdAt), updatedAt: timestampFromDate(updatedAt) };
  return create(NoteSchema, { ...present, ...times, noteId });
}

/** The message of a note that was changed: what answers a change is kept for replays, and the text is to be in one place. */
export function toChangedNote(note: NoteRecord): Note {
  return toNote({ ...note, text: undefined });
}
