import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { serveApiDocument } from './api-document.js';
import { LoginOutcomes } from './auth/login-outcomes.js';
import { CertificateHeaders } from './auth/mtls/certificate-headers.js';
import { RateLimits } from './auth/rate-limits.js';
import { DeclaredFieldsPipe } from './common/body.pipe.js';
import { ErrorFilter } from './common/error.filter.js';
import { JsonLogger } from './common/json-logger.js';
import { tracing } from './common/trace.js';
import type { Settings } from './config/settings.js';
import { serveDiscovery } from './features/discovery.route.js';
import { FeaturesService } from './features/features.service.js';
import { DrainService } from './health/drain.service.js';
import { MetricsPage } from './health/metrics-page.js';
import { addCommonHooks, createHttpServer, limitRates } from './http-server.js';
import { REDIS, type RedisConnections } from './storage/redis-connections.js';
import { UpdatesAdapter, type ClusterAdapter } from './updates/updates.adapter.js';

/** Builds the application: everything but listening. The caller closes it. */
export async function createApp(settings: Settings): Promise<NestFastifyApplication> {
  const server = createHttpServer(settings);
  tracing()?.watch(server);
  serveDiscovery(server, () => features.current());
  await addCommonHooks(server, settings);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forRoot(settings),
    new FastifyAdapter(server),
    { logger: new JsonLogger(settings.http.logLevel), bodyParser: false, abortOnError: false },
  );
  const features = app.get(FeaturesService);
  const redis = app.get<RedisConnections | null>(REDIS);
  await limitRates(server, settings, redis);
  app.get(RateLimits).bind(server);
  app.get(LoginOutcomes).watch(server);
  app.get(CertificateHeaders).stripFrom(server);
  app.get(DrainService).bind(server);
  await app.get(MetricsPage).serve(server);
  app.useGlobalPipes(new DeclaredFieldsPipe());
  app.useGlobalFilters(new ErrorFilter());
  app.useWebSocketAdapter(new UpdatesAdapter(app, settings, await clusterAdapter(redis)));
  if (settings.http.docsEnabled) {
    serveApiDocument(app);
  }
  if (settings.http.accountPageEnabled) {
    // Only a server that has the page loads what serves files.
    const { serveAccountPage } = await import('./account/account-page.js');
    await serveAccountPage(server, settings.http.publicUrl);
  }
  return app;
}

/** A server without Redis never loads what carries updates between replicas. */
async function clusterAdapter(redis: RedisConnections | null): Promise<ClusterAdapter | null> {
  if (redis === null) {
    return null;
  }
  const { redisAdapter } = await import('./updates/redis-adapter.js');
  return redisAdapter(redis.cluster);
}
