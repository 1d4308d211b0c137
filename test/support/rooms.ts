import type { Rooms } from "./sources.js";

/** The folders in src/services, each with the folders that it may import. */
export const serviceRooms: Rooms = {
  resources: [],
  patients: ["resources", "appointments", "desk", "eligibility", "holds", "notes"],
  catalogs: ["resources"],
  eligibility: ["resources"],
  desk: ["resources"],
  appointments: ["resources"],
  opportunity: ["resources"],
  schedule: ["resources", "appointments"],
  corrections: ["resources", "appointments", "schedule"],
  series: ["resources", "appointments"],
  displaced: ["resources", "appointments"],
  holds: ["resources", "appointments"],
  operations: [],
  notes: ["resources"],
  events: ["resources"],
  settings: ["resources", "schedule"],
  tenants: ["resources", "schedule"],
  webhooks: ["resources", "events"],
  imports: ["resources"],
};

/**
 * The folders in src/postgres/tables, each with the folders that it may import. The names are those of the services.
 */
export const tableRooms: Rooms = {
  resources: [],
  patients: ["resources"],
  catalogs: ["resources"],
  eligibility: ["resources"],
  desk: ["resources", "appointments", "schedule"],
  schedule: ["resources"],
  appointments: ["resources", "schedule"],
  displaced: ["appointments", "schedule"],
  holds: ["resources", "appointments", "schedule", "settings"],
  opportunity: ["appointments", "schedule"],
  operations: ["appointments", "opportunity"],
  notes: ["resources"],
  events: [],
  settings: ["appointments"],
  tenants: [],
  "time-events": ["appointments", "events", "settings"],
  webhooks: ["resources", "events"],
  imports: ["resources", "appointments", "schedule", "patients", "desk"],
};
