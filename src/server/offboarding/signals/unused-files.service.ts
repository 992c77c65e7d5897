import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../../common/runtime/clock.js';
import { unusedSecretFiles } from '../../config/environment/secret-file.js';
import { OperatorRulesService } from '../../config/operator-rules.service.js';
import { ServedCertificatesService } from '../../providers/certificate/served-certificates.service.js';
import { MetricsService } from '../../metrics/metrics.service.js';
import { CertificateFilesService } from '../../providers/certificate/certificate-files.service.js';

/** Counts the files whose change this server cannot use. */
@Injectable()
export class UnusedFilesService implements OnModuleInit {
  constructor(
    private readonly rules: OperatorRulesService,
    private readonly clientCertificates: CertificateFilesService,
    private readonly served: ServedCertificatesService,
    private readonly metrics: MetricsService,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    const kinds = [this.rules, this.clientCertificates, this.served];
    this.metrics.observe(
      'gatehouse_configuration_files_unused',
      'Files that changed to something this server cannot use: each file of a secret, those of rules, those of client certificates and those of served certificates.',
      () =>
        kinds.filter(({ hasUnusedChange }) => hasUnusedChange).length +
        unusedSecretFiles(this.clock),
    );
  }
}
