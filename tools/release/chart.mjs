import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Packages the chart for publishing.
 *
 * @param {object} options
 * @param {string} options.root the folder of the checkout
 * @param {string} options.repository such as `example/gatehouse`, on GitHub
 * @param {string} options.destination folder for the package
 * @param {string} [options.helm] the program
 * @returns {Promise<string>} path of the package
 */
export async function packageChart({ root, repository, destination, helm = 'helm' }) {
  const work = await mkdtemp(join(tmpdir(), 'gatehouse-chart-'));
  try {
    const chart = join(work, 'gatehouse');
    await cp(join(root, 'helm/gatehouse'), chart, { recursive: true });
    const home = `https://github.com/${repository}`;
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    const image = `ghcr.io/${repository.toLowerCase()}`;
    await edit(join(chart, 'values.yaml'), (text) =>
      replaceOnce(text, '\n  repository: gatehouse\n', `\n  repository: ${image}\n`),
    );
    await edit(join(chart, 'Chart.yaml'), (text) =>
      replaceOnce(
        `${text.trimEnd()}\nhome: ${home}\nsources: [${home}]\n` +
          `icon: ${home.replace('github.com', 'raw.githubusercontent.com')}/v${version}/helm/icon.svg\n`,
        'annotations:\n',
        `annotations:\n  artifacthub.io/images: |\n    - name: gatehouse\n      image: ${image}:${version}\n` +
          `  artifacthub.io/links: |\n    - name: Documentation\n      url: ${home}/tree/v${version}/docs\n`,
      ),
    );
    const { stdout } = await run(helm, ['package', chart, '--destination', destination]);
    return stdout.trim().split(': ').pop() ?? '';
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function edit(file, change) {
  await writeFile(file, change(await readFile(file, 'utf8')));
}

function replaceOnce(text, present, later) {
  if (text.split(present).length !== 2) {
    throw new Error(`Not exactly one ${JSON.stringify(present)}.`);
  }
  return text.replace(present, later);
}
