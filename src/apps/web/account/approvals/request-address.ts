import { isRequestId } from '../../../../core/protocol/request-id.js';
import { useHash } from '../../ui/use-events.js';

/** The address of one request: `/app/#requests/<id>`. */
const ADDRESS = /^#requests\/([\w-]+)$/;

export function requestHash(id: string): string {
  return `#requests/${id}`;
}

/** Returns the id of the request that the address names; null = the list. */
export function useOpenRequest(): string | null {
  return useHash((hash) => {
    const id = ADDRESS.exec(hash)?.[1];
    return isRequestId(id) ? id : null;
  });
}
