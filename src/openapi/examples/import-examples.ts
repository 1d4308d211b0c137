import { demo } from "./demo-ids.js";
import { example, type RequestExamples } from "./request-example.js";

const sourceSystem = "Agenda 2019";

/** Examples of imports from another system. */
export const importExamples: RequestExamples = {
  ImportResources: example({
    sourceSystem,
    rows: [
      {
        sourceId: "4711",
        patient: {
          documentType: "CC",
          documentNumber: "79461234",
          fullName: "Jorge Iván Restrepo",
          phone: "+57 604 555 0147",
          consentGrantedAt: "2019-03-01T09:00:00-05:00",
        },
      },
      {
        sourceId: "88120",
        appointment: {
          patient: { sourceId: "4711" },
          practitioner: { resourceId: demo.practitioner.mora },
          service: { resourceId: demo.service.general },
          programId: demo.program.primary,
          requestSourceId: demo.requestSource.portal,
          appointmentTypeId: demo.appointmentType.control,
          startsAt: "2019-03-05T09:00:00-05:00",
          endsAt: "2019-03-05T09:20:00-05:00",
          status: "ATTENDED",
          requestedOn: "2019-03-01",
        },
      },
    ],
  }),
  GetImportReport: example({ sourceSystem }),
};
