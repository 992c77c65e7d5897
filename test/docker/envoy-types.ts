import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import protobuf from 'protobufjs';

const run = promisify(execFile);
const CACHE = fileURLToPath(new URL('../../.cache/', import.meta.url));

/** A package that contains the published API of Envoy. Nothing of it is run. */
const SOURCE = {
  spec: '@grpc/grpc-js-xds@1.14.1',
  sha256: 'fd27db4119c139d5b59e8fe99d109bed04bff491302743ae3bf096667105c607',
};
const FOLDERS = ['envoy-api', 'xds', 'googleapis', 'protoc-gen-validate'];
/** The package protobufjs contains the types that Google publishes for every language. */
const COMMON = fileURLToPath(new URL('../node_modules/protobufjs/', import.meta.url));

const BOOTSTRAP = 'envoy.config.bootstrap.v3.Bootstrap';
/** Types that a configuration names by `@type`. */
const EXTENSIONS = [
  'envoy/extensions/filters/http/ext_authz/v3/ext_authz.proto',
  'envoy/extensions/filters/http/header_mutation/v3/header_mutation.proto',
  'envoy/extensions/filters/http/router/v3/router.proto',
  'envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.proto',
  'envoy/extensions/transport_sockets/tls/v3/tls.proto',
  'envoy/extensions/upstreams/http/v3/http_protocol_options.proto',
];

/**
 * Finds fields that Envoy's API lacks or deprecates, wrong types and values, and missing fields.
 */
export class EnvoyTypes {
  private constructor(private readonly root: protobuf.Root) {}

  static async load(): Promise<EnvoyTypes> {
    const home = join(await fetched(), 'package/deps');
    const root = new protobuf.Root();
    root.resolvePath = (_origin, file) => {
      const places = [...FOLDERS.map((folder) => join(home, folder)), COMMON];
      return places.map((place) => join(place, file)).find(existsSync) ?? file;
    };
    root.loadSync(['envoy/config/bootstrap/v3/bootstrap.proto', ...EXTENSIONS], { keepCase: true });
    root.resolveAll();
    return new EnvoyTypes(root);
  }

  problemsIn(configuration: unknown): string[] {
    return this.message(this.root.lookupType(BOOTSTRAP), configuration, '');
  }

  private message(type: protobuf.Type, value: unknown, path: string): string[] {
    const wellKnown = this.wellKnown(type, value, path);
    if (wellKnown !== null) {
      return wellKnown;
    }
    if (!isObject(value)) {
      return [`${path}: not an object`];
    }
    const problems = Object.entries(value).flatMap(([name, inner]) => {
      const field = type.fields[name];
      return field === undefined
        ? [`${path}.${name}: unknown in ${type.name}`]
        : this.field(field, inner, `${path}.${name}`);
    });
    return [...problems, ...missingIn(type, value, path)];
  }

  private field(field: protobuf.Field, value: unknown, path: string): string[] {
    const deprecated = field.options?.['deprecated'] === true ? [`${path}: deprecated`] : [];
    return [...deprecated, ...this.values(field, value, path)];
  }

  private values(field: protobuf.Field, value: unknown, path: string): string[] {
    if (field instanceof protobuf.MapField || field.repeated) {
      const isRight = field.repeated ? Array.isArray(value) : isObject(value);
      return isRight
        ? Object.entries(value as object).flatMap(([key, inner]) =>
            this.single(field, inner, `${path}.${key}`),
          )
        : [`${path}: not a ${field.repeated ? 'list' : 'map'}`];
    }
    return this.single(field, value, path);
  }

  private single(field: protobuf.Field, value: unknown, path: string): string[] {
    const type = field.resolvedType;
    if (type instanceof protobuf.Type) {
      return this.message(type, value, path);
    }
    if (type instanceof protobuf.Enum) {
      return Object.hasOwn(type.values, String(value)) ? [] : [`${path}: not in ${type.name}`];
    }
    const most = Number(field.options?.[`(validate.rules).${field.type}.lte`] ?? Infinity);
    const isRight = isScalar(field.type, value) && !(Number(value) > most);
    return isRight ? [] : [`${path}: not a ${field.type} in range`];
  }

  /** Returns the JSON format of a type of Google, or null for all others. */
  private wellKnown(type: protobuf.Type, value: unknown, path: string): string[] | null {
    const { value: wrapped } = type.fields;
    switch (type.fullName) {
      case '.google.protobuf.Any':
        return this.any(value, path);
      case '.google.protobuf.Duration':
        return /^\d+(\.\d{1,9})?s$/.test(String(value)) ? [] : [`${path}: not a duration`];
      default:
        return /^\.google\.protobuf\.\w+Value$/.test(type.fullName) && wrapped !== undefined
          ? this.single(wrapped, value, path)
          : null;
    }
  }

  private any(value: unknown, path: string): string[] {
    const { '@type': name, ...rest } = isObject(value) ? value : {};
    const known = /^type\.googleapis\.com\/(envoy\..+)$/.exec(String(name))?.[1];
    try {
      return this.message(this.root.lookupType(known ?? ''), rest, path);
    } catch {
      return [`${path}: ${String(name)} is not a type`];
    }
  }
}

/** Fields and choices that the rules in the API require. */
function missingIn(type: protobuf.Type, value: object, path: string): string[] {
  const isSet = (name: string): boolean => Object.hasOwn(value, name);
  const fields = type.fieldsArray
    .filter(({ options = {} }) => {
      const required = ['message.required', 'string.min_len', 'repeated.min_items'];
      return required.some((rule) => options[`(validate.rules).${rule}`]);
    })
    .filter(({ name, partOf }) => partOf === null && !isSet(name));
  const choices = type.oneofsArray.filter((one) => {
    const set = one.oneof.filter(isSet).length;
    return set > 1 || (set === 0 && one.options?.['(validate.required)'] === true);
  });
  return [...fields, ...choices].map(({ name }) => `${path}.${name}: required by ${type.name}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isScalar(type: string, value: unknown): boolean {
  switch (type) {
    case 'bool':
      return typeof value === 'boolean';
    case 'string':
    case 'bytes':
      return typeof value === 'string';
    case 'double':
    case 'float':
      return typeof value === 'number';
    default:
      return Number.isInteger(value);
  }
}

async function fetched(): Promise<string> {
  const home = join(CACHE, `envoy-types-${SOURCE.sha256.slice(0, 12)}`);
  if (existsSync(home)) {
    return home;
  }
  await mkdir(CACHE, { recursive: true });
  const directory = await mkdtemp(join(CACHE, 'fetch-'));
  try {
    const pack = ['pack', SOURCE.spec, '--ignore-scripts', '--silent'];
    const { stdout } = await run('npm', pack, { cwd: directory });
    const archive = join(directory, stdout.trim());
    const digest = createHash('sha256').update(await readFile(archive));
    if (digest.digest('hex') !== SOURCE.sha256) {
      throw new Error(`${SOURCE.spec} is not the one that is expected.`);
    }
    await mkdir(join(directory, 'home'));
    await run('tar', ['-xzf', archive, '-C', join(directory, 'home'), 'package/deps']);
    await rename(join(directory, 'home'), home);
    return home;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
