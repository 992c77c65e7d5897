import { t } from './i18n/messages.js';
import { Gate } from './ui/gate.js';

/** Returns true if the browser keeps its storage from this page, as with cookies blocked. */
export function isStorageBlocked(): boolean {
  try {
    // The properties throw, or are null where storage is switched off.
    return [localStorage, sessionStorage].some((store: Storage | null) => store === null);
  } catch {
    return true;
  }
}

/** Shown in place of a page that could not keep its session. */
export function NoStorage() {
  return (
    <Gate>
      <p class="problem" role="alert">
        {t.noStorage}
      </p>
    </Gate>
  );
}
