import { demo } from "./demo-ids.js";
import { example, type RequestExamples } from "./request-example.js";

/** Examples of the operations on locations, healthcare services, practitioners and opportunity definitions. */
export const referenceDataExamples: RequestExamples = {
  CreateLocation: example({ code: "USAQUEN", name: "Sede Usaquén", address: "Calle 116 # 7-15, Bogotá", active: true }),
  UpdateLocation: example({
    locationId: demo.location.chia,
    address: "Avenida Pradilla # 5-61, local 12, Chía",
    expectedVersion: 1,
  }),
  GetLocation: example({ locationId: demo.location.chapinero }),
  ListLocations: example({ pageSize: 20, active: true }),
  CreateHealthcareService: example({ code: "FISIO", name: "Fisioterapia", active: true }),
  UpdateHealthcareService: example({
    serviceId: demo.service.nutrition,
    opportunityDefinitionId: demo.opportunity.general,
    expectedVersion: 1,
  }),
  GetHealthcareService: example({ serviceId: demo.service.general }),
  ListHealthcareServices: example({ pageSize: 20 }),
  CreatePractitioner: example({
    code: "P-09",
    fullName: "Adriana Lucía Rincón Pardo",
    registrationNumber: "RM-130021",
    active: true,
  }),
  UpdatePractitioner: example({
    practitionerId: demo.practitioner.mora,
    fullName: "Andrés Felipe Mora de la Castaño",
    expectedVersion: 1,
  }),
  GetPractitioner: example({ practitionerId: demo.practitioner.rios }),
  ListPractitioners: example({ pageSize: 20, active: true }),
  CreateOpportunityDefinition: example({
    code: "URGENTE",
    name: "Consulta urgente",
    maxWaitDays: 1,
    dayKind: "CALENDAR",
    active: true,
  }),
  UpdateOpportunityDefinition: example({
    opportunityDefinitionId: demo.opportunity.dental,
    maxWaitDays: 5,
    expectedVersion: 1,
  }),
  GetOpportunityDefinition: example({ opportunityDefinitionId: demo.opportunity.general }),
  ListOpportunityDefinitions: example({ pageSize: 20 }),
};
