import { example, type RequestExamples } from "./request-example.js";

/** Examples of the operations on the settings of a tenant. */
export const tenantSettingsExamples: RequestExamples = {
  GetTenantSettings: example({}),
  UpdateTenantSettings: example({ reminderOffsetMinutes: [2880, 120], freedSlotOfferMinutes: 30, expectedVersion: 1 }),
  PreviewTenantSettingsChange: example({ horizonDays: 60, minimumNoticeMinutes: 120 }),
  ListTenantSettingsChanges: example({}),
};
