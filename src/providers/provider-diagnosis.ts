import { Clock } from '../common/clock.js';
import type { Settings } from '../config/settings.js';
import type { DiagnosisStep } from './identity-provider.js';
import { UpstreamConnections } from './http/upstream-connections.js';
import { providerFor } from './provider-registry.js';

export interface ProviderDiagnosis extends DiagnosisStep {
  readonly provider: string;
}

/**
 * Asks every provider what can be asked without a user, with the client of the server: whether it is
 * reached, publishes keys, accepts the client, and gives what re-checks need.
 */
export async function diagnoseProviders({
  providers,
  network,
}: Pick<Settings, 'providers' | 'network'>): Promise<ProviderDiagnosis[]> {
  const clock = new Clock();
  const connections = new UpstreamConnections(network);
  const diagnoses = await Promise.all(
    providers.map(async (settings) => {
      const steps = await providerFor(settings, clock, connections).diagnose();
      return steps.map((step) => ({ provider: settings.id, ...step }));
    }),
  );
  await connections.onApplicationShutdown();
  return diagnoses.flat();
}
