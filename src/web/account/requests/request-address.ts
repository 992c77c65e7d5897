import { useEffect, useState } from 'preact/hooks';
import { isRequestId } from '../../../protocol/request-id.js';

/** The address of one request: `/app/#requests/<id>`. */
const ADDRESS = /^#requests\/([\w-]+)$/;

export function requestHash(id: string): string {
  return `#requests/${id}`;
}

/** Returns the id of the request that the address names; null = the list. */
export function useOpenRequest(): string | null {
  const [open, show] = useState(openRequestId);
  useEffect(() => {
    const onChange = () => show(openRequestId());
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return open;
}

function openRequestId(): string | null {
  const id = ADDRESS.exec(location.hash)?.[1];
  return isRequestId(id) ? id : null;
}
