/** The client variable that lets development builds register (specification, Events 11). */
export const DEV_PUSH_VARIABLE = 'CLIENT_PUBLIC_ENABLE_DEV_PUSH_TOKEN_REGISTRATION';

export interface BuildFacts {
  readonly isDevelopmentBuild: boolean;
  /** The build's public variables: bundlers put them in, so the caller hands them over. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** Whether this build saves its push token on the server: `1` switches it on in development. */
export function registersPushToken({ isDevelopmentBuild, variables }: BuildFacts): boolean {
  return !isDevelopmentBuild || variables[DEV_PUSH_VARIABLE] === '1';
}
