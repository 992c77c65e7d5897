import { Listing } from '../ui/listing.js';
import { texts } from './i18n/texts.js';

interface LessonProps {
  /** The title. */
  readonly none: string;
  /** The purpose of what is not there yet. */
  readonly purpose: string;
  /** Stands before its code. */
  readonly firstStep?: string;
  /** Variables, a command or a part of a file. */
  readonly code?: string;
  /** Page of the documentation that continues. */
  readonly page: string;
}

/** Stands where nothing is yet: its purpose, the first step, and where to read on. */
export function Lesson({ none, purpose, firstStep, code, page }: LessonProps) {
  return (
    <div class="empty lesson">
      <strong>{none}</strong>
      <p>{purpose}</p>
      {firstStep !== undefined && <p>{firstStep}</p>}
      {code !== undefined && <Listing text={code} label={none} />}
      <p class="hint">
        {texts.lesson.read} <code>{page}</code>
      </p>
    </div>
  );
}
