import { enPrograms, type ProgramMessages } from './en-programs.js';
import { loaderOf } from '../messages.js';

/** Texts of the programs. Read them while rendering, because they change. */
export let programMessages: ProgramMessages = enPrograms;

/** Loads the texts now, and again when the language changes. */
export const loadProgramMessages = loaderOf(
  enPrograms,
  async () => (await import('./de-programs.js')).dePrograms,
  (texts) => (programMessages = texts),
);
