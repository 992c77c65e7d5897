import { applyDecorators, ValidationPipe, type ArgumentMetadata, type Type } from '@nestjs/common';
import { plainToInstance, Transform } from 'class-transformer';
import { getMetadataStorage, validate, type ValidationError } from 'class-validator';
import { AppError, invalidRequest } from '../../common/errors.js';

const OPAQUE = Symbol('opaque JSON');

/** JSON of the caller, kept as parsed: elsewhere keys such as `__proto__` are dropped. */
export const OpaqueJson = (): PropertyDecorator =>
  applyDecorators(
    // Opaque fields of a body are never transformed.
    Transform(({ key }) => {
      throw new Error(`${key} is opaque JSON in a nested class, which cannot be kept as it is.`);
    }),
    (prototype: object, field: string | symbol) =>
      Reflect.defineMetadata(OPAQUE, true, prototype, field),
  );

/** Nest's pipe with the contract's error. It reads declared fields only, in nested classes too. */
export class RequestValidationPipe extends ValidationPipe {
  constructor() {
    super({
      transform: true,
      whitelist: true,
      stopAtFirstError: true,
      exceptionFactory: (errors) =>
        new AppError('invalid-request', { details: errors.flatMap((one) => toDetails(one)) }),
    });
  }

  /** A missing body has no fields: each required field is reported. `null` is not an object. */
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { metatype } = metadata;
    if (metatype === undefined || !this.toValidate(metadata)) {
      return super.transform(value, metadata);
    }
    const dto = this.toDto(metatype as Type<object>, value === undefined ? {} : value);
    const errors = await validate(dto, this.validatorOptions);
    if (errors.length > 0) {
      throw await this.exceptionFactory(errors);
    }
    return dto;
  }

  /** Opaque fields are assigned unread. */
  private toDto<Dto extends object>(dtoType: Type<Dto>, value: unknown): Dto {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw invalidRequest('', 'Send a JSON object.');
    }
    const sent = value as Readonly<Record<string, unknown>>;
    const { walked, opaque } = fieldsOf(dtoType);
    const pick = (names: readonly string[]) =>
      Object.fromEntries(names.filter((n) => Object.hasOwn(sent, n)).map((n) => [n, sent[n]]));
    const read = pick(walked);
    // class-transformer calls a field named `constructor`.
    this.stripProtoKeys(read);
    return Object.assign(plainToInstance(dtoType, read), pick(opaque));
  }
}

interface DtoFields {
  readonly walked: readonly string[];
  readonly opaque: readonly string[];
}

const knownFields = new Map<Type, DtoFields>();

function fieldsOf(dtoType: Type): DtoFields {
  const known = knownFields.get(dtoType);
  if (known !== undefined) {
    return known;
  }
  const rules = getMetadataStorage().getTargetValidationMetadatas(dtoType, '', false, false);
  const declared = [...new Set(rules.map((rule) => rule.propertyName))];
  const isOpaque = (field: string): boolean =>
    Reflect.hasMetadata(OPAQUE, dtoType.prototype as object, field);
  const fields = {
    walked: declared.filter((field) => !isOpaque(field)),
    opaque: declared.filter(isOpaque),
  };
  knownFields.set(dtoType, fields);
  return fields;
}

function toDetails(
  { property, constraints = {}, children = [] }: ValidationError,
  parent = '',
): { path: string; message: string }[] {
  const path = parent + property;
  const own = Object.values(constraints).map((message) => ({ path, message }));
  return [...own, ...children.flatMap((child) => toDetails(child, `${path}.`))];
}
