/** The fields of a shown request, by their names in English; pages translate them. */
export const FIELD_LABELS = {
  command: 'Command',
  input: 'Input',
  directory: 'Directory',
  sessionDirectory: 'Directory of the session',
  computer: 'Computer',
  question: 'Question',
  option: 'Option',
  description: 'Description',
  tool: 'Tool',
  title: 'Session',
};

export type FieldLabel = keyof typeof FIELD_LABELS;
