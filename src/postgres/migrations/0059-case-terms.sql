-- The last day on which a user-attention case is to be closed, by the definition of its category.
-- Compatible from: 0015-appointment-lists
ALTER TABLE opportunity_definitions ADD COLUMN case_category text;
ALTER TABLE opportunity_definitions ADD CONSTRAINT opportunity_definitions_case_category_check
  CHECK (case_category IN ('INFORMATION_REQUEST', 'COMPLAINT', 'CLAIM', 'SUGGESTION', 'COMPLIMENT'));
COMMENT ON COLUMN opportunity_definitions.case_category IS
  'the category of the user-attention cases that the definition limits; null if it limits no cases';
CREATE UNIQUE INDEX opportunity_definitions_category_key
  ON opportunity_definitions (tenant_id, organization_id, company_id, case_category) NULLS NOT DISTINCT
  WHERE active AND case_category IS NOT NULL;
ALTER TABLE user_attention_cases ADD COLUMN due_on date;
COMMENT ON COLUMN user_attention_cases.due_on IS
  'last local date within the limit of the category on the day of the case; null for no limit';
