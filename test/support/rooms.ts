import type { Rooms } from "./sources.js";

/** The rooms of the operations, and which of the others each builds on. */
export const serviceRooms: Rooms = {
  resources: [],
  patients: ["resources", "appointments", "desk", "eligibility", "notes"],
  catalogs: ["resources"],
  eligibility: ["resources"],
  desk: ["resources"],
  appointments: ["resources"],
  schedule: ["resources", "appointments"],
  retained: ["resources", "appointments"],
  operations: [],
  notes: ["resources"],
  events: ["resources"],
};

/** The rooms of the tables, which have the same names. */
export const tableRooms: Rooms = {
  resources: [],
  patients: ["resources"],
  catalogs: ["resources"],
  eligibility: ["resources"],
  desk: ["resources"],
  schedule: ["resources"],
  appointments: ["resources", "schedule"],
  operations: ["appointments"],
  notes: ["resources"],
  events: [],
};
