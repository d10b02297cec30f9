import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { FreeForm, publishedAsFreeForm } from '../../../src/routers/shared.schemas.ts';
import { fromWire, withBody } from '../../../src/routers/wire.ts';
import { documented, meta, open, t, thingRouter } from './rest-fixture.ts';

type Json = Record<string, unknown>;
const { document } = documented(thingRouter);
const operation = (method: string, path: string, doc = document) => {
  const found = doc.paths[path]?.[method];
  if (!found) throw new Error(`${method} ${path} is not described`);
  return found;
};
const parameter = (method: string, path: string, name: string) =>
  operation(method, path).parameters?.find((p) => p.name === name) as { in: string; required: boolean; schema: Json };
const bodyOf = (method: string, path: string) => operation(method, path).requestBody!;

describe('OpenAPI document', () => {
  it('describes query parameters with type, bounds, default and nullability', () => {
    expect(parameter('get', '/things', 'limit')).toEqual({
      name: 'limit',
      in: 'query',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
    });
    expect(parameter('get', '/things', 'active').schema).toEqual({ type: ['boolean', 'null'], default: null });
    expect(parameter('get', '/things', 'ids').schema).toEqual({ type: 'array', items: { type: 'integer' } });
    expect(parameter('get', '/things', 'since').schema).toEqual({
      anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }],
    });
    expect(parameter('get', '/things/{thing_id}', 'thing_id')).toMatchObject({
      in: 'path',
      required: true,
      schema: { type: 'integer' },
    });
    expect(parameter('post', '/things/{thing_id}/click', 'source')).toMatchObject({ in: 'query', required: true });
    expect(parameter('post', '/things/keyed', 'x-count')).toMatchObject({ in: 'header', required: true });
  });

  it('describes bodies as clients send them and answers as they are sent', () => {
    expect(bodyOf('post', '/things')).toEqual({
      required: true,
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/CreateThing' },
          example: { name: 'string', price_kopeks: 100, tags: ['string'] },
        },
      },
    });
    expect(document.components.schemas.CreateThing).toMatchObject({
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', minLength: 3, maxLength: 10 },
        price_kopeks: { type: 'integer', minimum: 0, default: 100 },
      },
    });
    expect(document.components.schemas.Thing).toEqual({
      type: 'object',
      required: ['id', 'name'],
      properties: {
        id: { type: 'integer' },
        name: { type: 'string' },
        created_at: { type: 'string', format: 'date-time' },
        remark: { type: 'string', default: '' },
      },
    });
    expect(operation('get', '/things/{thing_id}').responses['200']).toMatchObject({
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
    });
  });

  it('says when a body may be absent, leaves path keys out of it and shows forms, files and redirects', () => {
    expect(bodyOf('put', '/things/status').required).toBe(false);
    expect(bodyOf('put', '/things/map')).toMatchObject({
      required: true,
      content: { 'application/json': { schema: { type: 'object', additionalProperties: { type: 'integer' } } } },
    });
    expect(bodyOf('delete', '/things/{thing_id}/full').required).toBe(false);
    expect(bodyOf('patch', '/things/{thing_id}')).toMatchObject({ required: true });
    expect(bodyOf('patch', '/things/{thing_id}').content['application/json']?.schema).not.toHaveProperty('properties.thing_id');
    expect(bodyOf('post', '/rounds/{round_id}/answer').content['application/json']?.schema).toMatchObject({
      required: ['round_id', 'text'],
    });
    expect(operation('post', '/things/run').requestBody).toBeUndefined();
    expect(bodyOf('post', '/things/upload').content['multipart/form-data']?.schema).toMatchObject({
      properties: { file: { type: 'string', format: 'binary' }, size: { type: 'integer', minimum: 1, default: 5 } },
      required: ['file'],
    });
    expect(Object.keys(operation('get', '/things/go').responses)[0]).toBe('302');
    expect(operation('get', '/things/file/{name}').responses['200']).toHaveProperty(['content', 'application/octet-stream']);
  });

  it('carries tags, security, area, permissions, failures and unique operation ids', () => {
    expect(document.tags).toEqual([{ name: 'Things' }]);
    expect(operation('post', '/things').security).toEqual([{ ApiKeyHeader: [] }, { ApiKeyBearer: [] }]);
    expect(operation('get', '/things').security).toEqual([]);
    expect(operation('delete', '/things/{thing_id}')).toMatchObject({
      'x-area': 'web',
      'x-auth': 'JWT_ADMIN',
      'x-permissions': ['things:delete'],
      security: [{ CabinetJwt: [] }],
    });
    expect(Object.keys(operation('delete', '/things/{thing_id}').responses)).toEqual(['200', '422']);
    expect(Object.keys(operation('post', '/things/run').responses)).toEqual(['200']);
    const ids = Object.values(document.paths).flatMap((item) => Object.values(item).map((op) => op.operationId));
    expect(new Set(ids).size).toBe(ids.length);
    expect(parameter('post', '/things', 'Idempotency-Key')).toMatchObject({ in: 'header', required: false });
  });

  it('refers only to components that exist, and every schema compiles', () => {
    const text = JSON.stringify(document);
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g))
      expect(document.components.schemas).toHaveProperty([name!]);
    const ajv = new Ajv2020.default({ strict: false });
    addFormats.default(ajv);
    ajv.addSchema(document, 'doc');
    for (const name of Object.keys(document.components.schemas))
      expect(ajv.getSchema(`doc#/components/schemas/${name}`)).toBeTypeOf('function');
    const validate = ajv.getSchema('doc#/components/schemas/CreateThing')!;
    expect(validate(bodyOf('post', '/things').content['application/json']?.example)).toBe(true);
  });

  it('splits a schema that reads differently in requests and answers, with all that contain it', () => {
    const Part = z
      .object({
        at: z.string().transform(Number).pipe(z.int()),
        n: z.int().default(1),
      })
      .meta({ id: 'Part' });
    const Whole = z.object({ parts: z.array(Part), same: z.object({ x: z.int() }).meta({ id: 'Same' }) }).meta({ id: 'Whole' });
    const router = t.router({
      a: open
        .meta(meta('POST', '/a'))
        .input(Whole)
        .output(Part.extend({ whole: Whole }))
        .mutation(() => null as never),
    });
    const { document: doc } = documented(router);
    expect(Object.keys(doc.components.schemas).sort()).toEqual(
      ['HTTPError', 'HTTPValidationError', 'Part', 'PartOutput', 'Same', 'HTTPValidationIssue', 'Whole', 'WholeOutput'].sort(),
    );
    expect(doc.components.schemas.WholeOutput).toMatchObject({
      properties: { parts: { items: { $ref: '#/components/schemas/PartOutput' } } },
    });
  });

  it('spec 10 K2: a body beside path parameters keeps its component and its example, also when the joined input has checks', () => {
    const example = { title: 'A new title' };
    const Change = z.object({ title: z.string().max(20).nullish() }).meta({ id: 'ThingChange', example });
    const joined = withBody(z.object({ thing_id: z.int() }), Change).refine(({ title }) => title !== '');
    const changed = t.router({
      change: open
        .meta(meta('PATCH', '/changed/{thing_id}'))
        .input(fromWire(joined))
        .output(z.object({}))
        .mutation(() => ({})),
    });
    const { document: described } = documented(changed);
    const { schema, example: published } = operation('patch', '/changed/{thing_id}', described).requestBody!.content[
      'application/json'
    ]!;
    expect(schema).toEqual({ $ref: '#/components/schemas/ThingChange' });
    expect(described.components.schemas.ThingChange).not.toHaveProperty('properties.thing_id');
    expect(published).toEqual(example);
  });

  it('keeps recursive schemas, given examples, and leaves examples out that the schema would refuse', () => {
    const Tree = z.object({
      name: z.string().nullable(),
      kind: z.string().regex(/^(leaf|branch)$/),
      get kids() {
        return z.array(Tree).optional();
      },
    });
    const router = t.router({
      tree: open
        .meta(meta('POST', '/tree'))
        .input(z.object({ root: Tree }))
        .mutation(() => 1),
      strict: open
        .meta(meta('POST', '/strict'))
        .input(z.object({ code: z.string().regex(/^[A-Z]{4}-\d+$/) }))
        .mutation(() => 1),
      given: open
        .meta(meta('POST', '/given'))
        .input(
          z.object({
            code: z
              .string()
              .regex(/^[A-Z]{4}-\d+$/)
              .meta({ example: 'GIFT-7' }),
          }),
        )
        .mutation(() => 1),
    });
    const { document: doc } = documented(router);
    expect(JSON.stringify(doc)).not.toContain('$defs');
    expect(operation('post', '/tree', doc).requestBody?.content['application/json']?.example).toMatchObject({
      root: { name: 'string', kind: 'leaf' },
    });
    expect(operation('post', '/strict', doc).requestBody?.content['application/json']).not.toHaveProperty('example');
    expect(operation('post', '/given', doc).requestBody?.content['application/json']?.example).toEqual({ code: 'GIFT-7' });
  });

  it('shows a typed answer that the contract leaves free-form as an object of any fields, without its parts', () => {
    const Bought = z.object({ price_kopeks: z.int(), servers: z.array(z.object({ uuid: z.string() })) });
    const router = t.router({
      typed: open
        .meta(meta('POST', '/typed'))
        .output(publishedAsFreeForm(Bought))
        .mutation(() => ({ price_kopeks: 1, servers: [] })),
      free: open
        .meta(meta('POST', '/free'))
        .output(FreeForm)
        .mutation(() => ({})),
    });
    const { document: doc } = documented(router);
    const answer = (path: string) => (operation('post', path, doc).responses['200'] as { content: Json }).content;
    expect(JSON.stringify(answer('/typed'))).not.toContain('price_kopeks');
    expect(answer('/typed')).toEqual(answer('/free'));
  });

  it('refuses two different schemas under one name', () => {
    const router = t.router({
      a: open
        .meta(meta('POST', '/a'))
        .input(z.object({ v: z.object({ x: z.int() }).meta({ id: 'Twice' }) }))
        .mutation(() => 1),
      b: open
        .meta(meta('POST', '/b'))
        .input(z.object({ v: z.object({ y: z.int() }).meta({ id: 'Twice' }) }))
        .mutation(() => 1),
    });
    expect(() => documented(router)).toThrow(/Duplicate schema id "Twice"/);
    const input = z.object({ x: z.int() }).meta({ id: 'HTTPError' });
    const taken = t.router({
      a: open
        .meta(meta('POST', '/a'))
        .input(input)
        .mutation(() => 1),
    });
    expect(() => documented(taken)).toThrow(/HTTPError is taken/);
  });
});
