import { Listing } from '../ui/listing.js';
import { texts } from './i18n/texts.js';

interface LessonProps {
  readonly title: string;
  /** The purpose of what is not there yet. */
  readonly purpose: string;
  /** The first step, before its code. */
  readonly step?: string;
  /** Variables, a command or a part of a file. */
  readonly code?: string;
  /** Page of the documentation that continues. */
  readonly page: string;
}

/** Stands where nothing is yet: its purpose, the first step, and where to read on. */
export function Lesson({ title, purpose, step, code, page }: LessonProps) {
  return (
    <div class="empty lesson">
      <strong>{title}</strong>
      <p>{purpose}</p>
      {step !== undefined && <p>{step}</p>}
      {code !== undefined && <Listing text={code} label={title} />}
      <p class="hint">
        {texts.lesson.read} <code>{page}</code>
      </p>
    </div>
  );
}
