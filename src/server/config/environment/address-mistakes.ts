const ESCAPES =
  'must have special characters of the user and the password in percent-encoding: % as %25, / as %2F, ? as %3F, # as %23, @ as %40.';

/**
 * Names what to write in the address of a database. A password with special characters, or several
 * hosts, would lead to another host or to none.
 * @param severalHosts the message for several hosts
 */
export function mistakesIn(severalHosts: string): (address: string) => string | null {
  return (address) => mistakeIn(address, severalHosts);
}

function mistakeIn(address: string, severalHosts: string): string | null {
  const [, authority = '', rest = ''] = /^\w+:\/\/([^/?#]*)(.*)$/s.exec(address) ?? [];
  const hostsAt = authority.lastIndexOf('@') + 1;
  // An unescaped character of the password ends the authority before its `@`.
  const isCut = /^[^?]*@|#|[?&][^=&]*@/.test(rest);
  const isLost = !URL.canParse(address) && rest.includes('@');
  if (isCut || isLost || !isDecodable(authority.slice(0, hostsAt))) {
    return ESCAPES;
  }
  const [, query = ''] = rest.split('?');
  const hosts = authority.slice(hostsAt) + (new URLSearchParams(query).get('host') ?? '');
  return hosts.includes(',') ? severalHosts : null;
}

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== '' || text === '';
  } catch {
    return false;
  }
}
