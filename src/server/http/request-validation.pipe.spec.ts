import { ValidationPipe, type ArgumentMetadata, type Type } from '@nestjs/common';
import { Type as TypeOf } from 'class-transformer';
import { IsArray, IsInt, IsOptional, IsString, ValidateNested } from 'class-validator';
import { OpaqueJson, RequestValidationPipe } from './request-validation.pipe.js';

class Member {
  @IsString() name!: string;
}

class Team {
  @ValidateNested({ each: true })
  @TypeOf(() => Member)
  @IsArray()
  members!: Member[];

  @IsOptional() @OpaqueJson() content?: unknown;
  @IsOptional() @TypeOf(() => Number) @IsInt() size?: number;
}

class Mistaken {
  @ValidateNested() @TypeOf(() => Team) team!: Team;
}

const of = (metatype: Type): ArgumentMetadata => ({ type: 'body', metatype });
const pipe = new RequestValidationPipe();
const parse = (json: string): unknown => pipe.transform(JSON.parse(json), of(Team));

const POISONED =
  '{"__proto__":{"x":1},"constructor":{"prototype":{"y":2}},"prototype":[3],"a":"1"}';

describe(RequestValidationPipe.name, () => {
  it('validates nested classes, by the path of the field', async () => {
    await expect(parse('{"members":[{"name":"a"},{"name":7}]}')).rejects.toMatchObject({
      code: 'invalid-request',
      extras: { details: [{ path: 'members.1.name', message: 'name must be a string' }] },
    });
    const team = (await parse('{"members":[{"name":"a"}]}')) as Team;
    expect(team).toBeInstanceOf(Team);
    expect(team.members[0]).toBeInstanceOf(Member);
  });

  it('drops undeclared fields of the body and of nested classes', async () => {
    const team = (await parse('{"members":[{"name":"a","admin":true}],"owner":1}')) as Team;
    expect(JSON.stringify(team)).toBe('{"members":[{"name":"a"}]}');
  });

  it('converts declared types', async () => {
    expect(await parse('{"members":[],"size":"3"}')).toMatchObject({ size: 3 });
  });

  it('keeps opaque JSON as it was parsed, keys of prototypes included', async () => {
    const json = `{"members":[],"content":${POISONED}}`;
    const team = (await parse(json)) as Team;
    expect(JSON.stringify(team.content)).toBe(POISONED);
    expect({}).not.toHaveProperty('x');
  });

  it('refuses to read opaque JSON in a nested class, which would lose its keys', async () => {
    const body = { team: { members: [], content: {} } };
    await expect(pipe.transform(body, of(Mistaken))).rejects.toThrow(/content is opaque JSON/);
  });

  it('survives keys of prototypes in other fields', async () => {
    const parsed = parse(`{"members":[${POISONED}],"size":{"constructor":7}}`);
    await expect(parsed).rejects.toMatchObject({ code: 'invalid-request' });
  });

  it.each(['null', '[]', '"x"', '7'])('refuses the body %s', async (json) => {
    await expect(parse(json)).rejects.toMatchObject({ code: 'invalid-request' });
  });

  it('leaves a pipe of Nest that was built before as it is', async () => {
    const plain = new ValidationPipe({ transform: true });
    expect(new RequestValidationPipe()).toBeDefined();
    const team = { members: [{ name: 7 }] };
    await expect(plain.transform(team, of(Team))).rejects.toMatchObject({ status: 400 });
  });
});
