import { RequestSource_Channel as Channel } from "../gen/cupo/access/v1/request_source_pb.js";
import { OpportunityDefinition_DayKind as DayKind } from "../gen/cupo/clinic/v1/opportunity_definition_pb.js";
import { defaultCatalogs } from "../services/tenants/default-catalogs.js";
import type { DemoClinic } from "./demo-clinic.js";
import { invent } from "./invented-patients.js";

/** UUID of the first demo tenant. Development tokens are for this tenant by default. */
export const DEMO_TENANT_ID = "0d3e0000-0000-4000-8000-000000000001";

/** The clinic of the first demo tenant, with three locations in Bogotá and Chía. All names are invented. */
export const largeClinic: DemoClinic = {
  tenantId: DEMO_TENANT_ID,
  name: "Clínica Los Cerezos",
  locations: [
    { code: "CHAPINERO", name: "Sede Chapinero", address: "Carrera 13 # 58-20, Bogotá" },
    { code: "SUBA", name: "Sede Suba", address: "Calle 145 # 91-34, Bogotá" },
    { code: "CHIA", name: "Sede Chía", address: "Avenida Pradilla # 5-61, Chía" },
  ],
  services: [
    { code: "MEDGEN", name: "Medicina general" },
    { code: "PEDIA", name: "Pediatría" },
    { code: "GINECO", name: "Ginecología y obstetricia" },
    { code: "CARDIO", name: "Cardiología" },
    { code: "DERMA", name: "Dermatología" },
    { code: "ODONTO", name: "Odontología general" },
    { code: "PSICO", name: "Psicología" },
    { code: "NUTRI", name: "Nutrición y dietética" },
  ],
  practitioners: [
    { code: "P-01", fullName: "Laura Marcela Ríos Peña", registrationNumber: "RM-110234" },
    { code: "P-02", fullName: "Andrés Felipe Mora Castaño", registrationNumber: "RM-110871" },
    { code: "P-03", fullName: "Catalina Suárez Niño", registrationNumber: "RM-112045" },
    { code: "P-04", fullName: "Jorge Iván Salcedo Ruiz", registrationNumber: "RM-098412" },
    { code: "P-05", fullName: "Diana Patricia Ñáñez Ortiz", registrationNumber: "RM-121560" },
    { code: "P-06", fullName: "Sebastián Caicedo Lozano", registrationNumber: "RM-119327" },
    { code: "P-07", fullName: "Mónica Andrea Vélez Gil", registrationNumber: "TP-204418" },
    { code: "P-08", fullName: "Camilo Ernesto Bernal Páez", registrationNumber: "TP-207735" },
  ],
  ...defaultCatalogs,
  opportunities: defaultCatalogs.opportunities.map((it) => Object.assign({}, it, { dayKind: DayKind[it.dayKind] })),
  requestSources: defaultCatalogs.requestSources.map((it) => Object.assign({}, it, { channel: Channel[it.channel] })),
  payers: [
    { code: "EPS-AURORA", name: "EPS Aurora Andina", taxId: "900000001-1" },
    { code: "EPS-PALMAR", name: "EPS Palmar del Caribe", taxId: "900000002-2" },
    { code: "PREP-HORIZONTE", name: "Horizonte Medicina Prepagada", taxId: "900000003-3" },
    { code: "PARTICULAR", name: "Particular", taxId: "222222222" },
  ],
  contracts: [
    {
      code: "AURORA-BASICO",
      name: "Aurora, plan básico",
      payer: "EPS-AURORA",
      coveredServices: ["MEDGEN", "PEDIA", "ODONTO"],
    },
    {
      code: "AURORA-ESP",
      name: "Aurora, especialidades",
      payer: "EPS-AURORA",
      coveredServices: ["GINECO", "CARDIO", "DERMA"],
    },
    {
      code: "PALMAR-2026",
      name: "Palmar, atención primaria",
      payer: "EPS-PALMAR",
      coveredServices: ["MEDGEN", "PEDIA", "PSICO", "NUTRI"],
    },
    { code: "HORIZONTE-ORO", name: "Horizonte, plan oro", payer: "PREP-HORIZONTE", coveredServices: [] },
    { code: "TARIFA-PLENA", name: "Tarifa plena", payer: "PARTICULAR", coveredServices: [] },
  ],
  patients: invent(20),
  programs: [
    {
      code: "PRIMARIA",
      name: "Atención primaria, Chapinero",
      location: "CHAPINERO",
      services: ["MEDGEN", "PEDIA", "ODONTO"],
      practitioners: ["P-01", "P-02", "P-03", "P-07"],
      rules: [
        {
          weekdays: [1, 2, 3, 4, 5],
          startsAtLocal: "07:00",
          endsAtLocal: "12:00",
          slotDurationMinutes: 20,
          dailyCapacity: 60,
        },
        {
          weekdays: [1, 2, 3, 4, 5],
          startsAtLocal: "13:00",
          endsAtLocal: "17:00",
          slotDurationMinutes: 20,
          dailyCapacity: 48,
        },
      ],
    },
    {
      code: "ESPECIALISTAS",
      name: "Especialistas, Suba",
      location: "SUBA",
      services: ["GINECO", "CARDIO", "DERMA", "PSICO", "NUTRI"],
      practitioners: ["P-04", "P-05", "P-06", "P-08"],
      rules: [
        {
          weekdays: [2, 4],
          startsAtLocal: "08:00",
          endsAtLocal: "16:00",
          slotDurationMinutes: 40,
          dailyCapacity: 40,
        },
        { weekdays: [6], startsAtLocal: "08:00", endsAtLocal: "12:00", slotDurationMinutes: 30, dailyCapacity: 24 },
      ],
    },
  ],
};
