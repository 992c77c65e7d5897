export interface GeneratedFile {
  readonly location: URL;
  readonly text: string;
}

/** Every file of the repository that is made from the configuration tables, as it should be. */
export function generatedFiles(): GeneratedFile[];
