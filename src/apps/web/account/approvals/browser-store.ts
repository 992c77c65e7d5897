import { discardPasskey } from '../tab-state.js';

const DATABASE = 'gatehouse';
const STORE = 'request-keys';

/** The keys of one account. */
export interface KeyEntry {
  readonly accountId: string;
  /** The passkey that opens one of them; null = none. */
  readonly passkey: { readonly credentialId: string } | null;
}

/** IndexedDB is the only storage that takes keys which no script can read. */
export async function readEntry<Stored extends KeyEntry>(
  accountId: string,
): Promise<Stored | undefined> {
  return inStore('readonly', (store) => store.get(accountId) as IDBRequest<Stored | undefined>);
}

export async function writeEntry(entry: KeyEntry): Promise<void> {
  await inStore('readwrite', (store) => store.put(entry));
}

/** Removes the keys of all accounts but one. @param accountId null removes all */
export async function forgetOtherKeys(accountId: string | null): Promise<void> {
  // Without a database nothing was stored, and opening one would create it.
  if (!(await exists())) {
    return;
  }
  const entries = await inStore('readonly', (store) => store.getAll() as IDBRequest<KeyEntry[]>);
  for (const other of entries.filter((entry) => entry.accountId !== accountId)) {
    await inStore('readwrite', (store) => store.delete(other.accountId));
    if (other.passkey !== null) {
      discardPasskey(other.passkey.credentialId);
    }
  }
}

/** Browsers without `databases` report true. */
async function exists(): Promise<boolean> {
  if (!('indexedDB' in window)) {
    return false;
  }
  const { databases } = indexedDB as Partial<IDBFactory>;
  const known = await databases?.call(indexedDB);
  return known === undefined || known.some(({ name }) => name === DATABASE);
}

async function inStore<Result>(
  mode: IDBTransactionMode,
  use: (store: IDBObjectStore) => IDBRequest<Result>,
): Promise<Result> {
  const database = await opened();
  try {
    const transaction = database.transaction(STORE, mode);
    const request = use(transaction.objectStore(STORE));
    await new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(storageError(transaction.error));
    });
    return request.result;
  } finally {
    database.close();
  }
}

function opened(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () =>
      request.result.createObjectStore(STORE, { keyPath: 'accountId' });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(storageError(request.error));
  });
}

function storageError(cause: DOMException | null): Error {
  return new Error('The browser stored nothing.', { cause });
}
