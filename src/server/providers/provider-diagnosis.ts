import { Runtime } from '../../common/runtime/runtime.js';
import type { Settings } from '../config/settings.js';
import type { DiagnosisStep } from './identity-provider.js';
import { UpstreamConnectionsService } from './http/upstream-connections.service.js';
import { providerFor } from './provider.registry.js';

export interface ProviderDiagnosis extends DiagnosisStep {
  readonly provider: string;
}

export async function diagnoseProviders({
  providers,
  network,
}: Pick<Settings, 'providers' | 'network'>): Promise<ProviderDiagnosis[]> {
  const runtime = new Runtime();
  const connections = new UpstreamConnectionsService(network);
  const diagnoses = await Promise.all(
    providers.map(async (settings) => {
      const steps = await providerFor(settings, runtime, connections).diagnose();
      return steps.map((step) => ({ provider: settings.id, ...step }));
    }),
  );
  await connections.onApplicationShutdown();
  return diagnoses.flat();
}
