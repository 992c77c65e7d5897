import { ValidationPipe, type Type } from '@nestjs/common';
import { instanceToPlain, plainToInstance } from 'class-transformer';
import { getMetadataStorage, type ValidationError } from 'class-validator';
import { AppError } from './errors.js';

/**
 * Nest's ValidationPipe with the contract's error, and one difference: it reads declared fields only
 * and does not walk the JSON they hold. Nest and class-transformer walk a whole body: one that is
 * nested 10,000 levels deep overflows the stack, and keys named `constructor` or `prototype` are
 * deleted from it, also inside an account's content.
 */
export class RequestValidationPipe extends ValidationPipe {
  constructor() {
    super({
      transform: true,
      stopAtFirstError: true,
      transformerPackage: { plainToInstance: toDto, classToPlain: instanceToPlain },
      exceptionFactory: (errors) =>
        new AppError('invalid-request', { details: errors.flatMap(toDetails) }),
    });
  }

  protected override closeArrayGaps(): void {
    // JSON has no sparse arrays.
  }

  protected override stripProtoKeys(): void {
    // Undeclared fields are not read.
  }

  /** A missing body has no fields: each required field is reported. `null` is not an object. */
  protected override toEmptyIfNil<Value, Result = Value>(value: unknown): Result | object {
    return value === undefined ? {} : (value as Result);
  }
}

/** Converts the declared text and number fields as the class says; copies objects and arrays. */
function toDto<Dto>(dtoType: Type<Dto>, value: unknown): Dto {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AppError('invalid-request', {
      details: [{ path: '', message: 'Send a JSON object.' }],
    });
  }
  const sent = value as Readonly<Record<string, unknown>>;
  const fields = declaredFields(dtoType).filter((field) => Object.hasOwn(sent, field));
  const isNested = (field: string): boolean => typeof sent[field] === 'object';
  const pick = (names: readonly string[]) => Object.fromEntries(names.map((n) => [n, sent[n]]));
  const dto = plainToInstance(dtoType, pick(fields.filter((field) => !isNested(field))));
  return Object.assign(dto as object, pick(fields.filter(isNested))) as Dto;
}

const knownFields = new Map<Type, readonly string[]>();

function declaredFields(dtoType: Type): readonly string[] {
  const known = knownFields.get(dtoType);
  if (known !== undefined) {
    return known;
  }
  const rules = getMetadataStorage().getTargetValidationMetadatas(dtoType, '', false, false);
  const fields = [...new Set(rules.map((rule) => rule.propertyName))];
  knownFields.set(dtoType, fields);
  return fields;
}

function toDetails(error: ValidationError): { path: string; message: string }[] {
  const messages = Object.values(error.constraints ?? {});
  return messages.map((message) => ({ path: error.property, message }));
}
