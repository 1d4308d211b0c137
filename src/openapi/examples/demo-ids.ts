/** Ids of the demo tenant, as listed in `docs/reference/demo-ids.md`. They are the same in every database. */
export const demo = {
  location: { chapinero: "471ae241-e594-5ac9-a160-c9a0fc7e255b", chia: "fd112a47-f67b-5b78-8a45-b4e9c8819826" },
  service: {
    general: "a455bc8a-233a-5c14-82a9-40055e5894fa",
    nutrition: "b435de96-6f70-5a83-a376-2a52e88d94f8",
    psychology: "9d897986-a5cf-5517-9cbe-adff407a241b",
  },
  practitioner: {
    rios: "c1fc3d09-44ac-557b-898a-3ce1af87cf84",
    mora: "7486e404-ca9d-5ccc-9581-bd498f050be5",
    salcedo: "53b5bbaa-82da-52df-8ebe-75fb57a95993",
    nanez: "1bb6a803-a11f-5770-b351-747b9c0b22cb",
  },
  opportunity: { general: "aabfa0a0-ca2c-52c9-9628-9c8d6716e6b3", dental: "7baf93fd-003d-5fe7-ab99-07596f052ee0" },
  appointmentType: {
    first: "76010db7-bb34-5073-998a-aee7e1f215da",
    control: "eed83929-0b90-563e-ab36-e75f62619deb",
    dental: "caf9e5d7-c27b-5a15-92f5-543b94e734ad",
  },
  consultationType: {
    inPerson: "b82d721b-dfa9-5af7-9fe4-52e82b9813bd",
    atHome: "9f0165c8-8a22-5c7d-8f17-77223be787e0",
  },
  requestSource: { portal: "6dd58654-4986-5c1d-9b28-f04a2d444c16", partners: "afdddf32-fe72-57b9-9cf5-e0ee4a9aa4b7" },
  cancellationReason: {
    patient: "7d6a6ce8-5c49-5da2-8d13-860d4a07beb9",
    closure: "e2ec9f69-1ce7-571f-9a93-6f012bbf436e",
  },
  noShowReason: {
    noNotice: "a6f0edcc-70ff-5c6c-a42c-2f49da8af891",
    late: "bfa7de10-9897-5ca1-be39-9f7ac08a74b6",
  },
  payer: { aurora: "4d81662d-22af-5649-b92c-f6952191a4f7", horizonte: "dfae608c-3113-52d8-8087-56404d0bc1de" },
  contract: {
    auroraBasic: "05e00c93-1abf-5015-88ed-488018bbb8e2",
    auroraSpecialists: "11332b9f-b994-58ec-a6d1-c8a001303a22",
    palmar: "27b3c0d6-d220-59c6-8ec5-fe50aff00274",
  },
  program: {
    primary: "cec4dbba-eaff-55d3-96d1-ae5891f16d1e",
    specialists: "20677991-5075-5c91-96b1-34e32326d667",
  },
  rule: {
    primaryMorning: "6d780cdc-1e09-5b4c-9c9d-eb42e64bd9e0",
    specialistsSaturday: "c84a3c6f-a1d3-5b61-be11-da5fc2bb45bf",
  },
  patient: {
    quintero: "09d04500-641c-5dc4-9784-764579f40c17",
    ospina: "8fca2b72-5f83-5a22-8806-acb27a937ed9",
    becerra: "51e71192-ef32-5bf6-a375-a3aedd410440",
    acuna: "93c88d7d-cc78-5692-b263-a1c0a7332b96",
    cardenas: "249d8b7b-929f-523e-b5eb-045b889fa597",
    echeverri: "744fee38-ff88-5339-9b17-b592fb85c902",
    giraldo: "71468dbb-a644-55f5-a673-9e37f286138d",
    forero: "9e3fe334-e138-56ce-9227-a379c1b21908",
    cuellar: "918a0188-286e-5dab-80d1-72104e9059b5",
    tascon: "daace987-8391-5a78-8053-2517856a8265",
  },
} as const;
