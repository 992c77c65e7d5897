import { enPrograms, type ProgramMessages } from './en-programs.js';
import { addMessages, type Language } from '../messages.js';

/** Texts of the programs. Read them while rendering, because they change. */
export let programMessages: ProgramMessages = enPrograms;

/** Loads the texts now, and again when the language changes. */
export function loadProgramMessages(): Promise<void> {
  return addMessages(load);
}

async function load(language: Language): Promise<() => void> {
  const loaded = language === 'en' ? enPrograms : (await import('./de-programs.js')).dePrograms;
  return () => (programMessages = loaded);
}
