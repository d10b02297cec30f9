import { describe, expect, it } from 'vitest';
import { refusal } from '../../../src/core/errors.ts';
import { describeDocument } from '../../../src/rest/describe-document.ts';
import { documentRefusals } from '../../../src/rest/document-refusals.ts';
import { buildOpenApiDocument } from '../../../src/rest/openapi-document.ts';
import { buildRouteTable } from '../../../src/rest/route-table.ts';
import { buildServiceDocument } from '../../../src/rest/service-document.ts';
import type { OperationMeta } from '../../../src/routers/operation-meta.ts';
import { appRouter } from '../../../src/routers/root.ts';
import { thingRouter } from './rest-fixture.ts';

const things = () => buildOpenApiDocument(buildRouteTable(thingRouter), { title: 'Things', version: '1.0.0' });
const NO_TEXTS = { tags: {}, operations: {}, parameters: {}, properties: {} };

describe('texts of the document', () => {
  it('gives a field the narrowest text', () => {
    const document = things();
    describeDocument(document, {
      ...NO_TEXTS,
      properties: { name: 'Name.', 'Thing.name': 'Name of the thing.' },
    });
    const { Thing, CreateThing } = document.components.schemas;
    expect(Thing).toMatchObject({ properties: { name: { description: 'Name of the thing.' } } });
    expect(CreateThing).toMatchObject({ properties: { name: { description: 'Name.' } } });
  });

  it('gives a parameter its own text, else that of its group, else that of the field of its name', () => {
    const document = things();
    describeDocument(document, {
      ...NO_TEXTS,
      parameters: { 'GET /things.limit': 'Own.', limit: 'Any.' },
      properties: { thing_id: 'Id of the thing.' },
    });
    const textOf = (method: string, path: string, name: string) =>
      document.paths[path]?.[method]?.parameters?.find((parameter) => parameter.name === name)?.description;
    expect(textOf('get', '/things', 'limit')).toBe('Own.');
    expect(textOf('get', '/things/{thing_id}', 'thing_id')).toBe('Id of the thing.');
  });

  it('reports what has no text and texts that nothing uses', () => {
    const gaps = describeDocument(things(), { ...NO_TEXTS, operations: { 'GET /nowhere': 'Nothing.' } });
    expect(gaps.undescribed).toContain('operation GET /things');
    expect(gaps.undescribed).toContain('property Thing.name');
    expect(gaps.unused).toEqual(['operations: GET /nowhere']);
  });

  it('leaves nothing of the service without a text', () => {
    const { document, gaps } = buildServiceDocument(buildRouteTable(appRouter));
    expect(gaps).toEqual({ undescribed: [], unused: [] });
    expect(document.info.version).toBe('1.0.0');
    expect(document.tags.map((tag) => tag.name)).toEqual(
      document.tags.map((tag) => tag.name).toSorted((a, b) => a.localeCompare(b, 'en')),
    );
  });
});

describe('refusals of the document', () => {
  const documented = (path: `/${string}`, method: string, meta: Pick<OperationMeta, 'refuses' | 'guardRefuses'>) => {
    const document = things();
    documentRefusals(document, [{ method, path, meta }]);
    return { document, responses: document.paths[path]![method.toLowerCase()]!.responses };
  };

  it('lists the refusals of an operation with code and sample, those of its guard once for all operations', () => {
    const { document, responses } = documented('/things/{thing_id}', 'GET', {
      guardRefuses: [refusal('database_unavailable', 503, 'Try again later')],
      refuses: [
        refusal('thing_not_found', 404, 'Thing not found'),
        refusal('thing_deleted', 404, { code: 'thing_deleted', message: 'Thing deleted' }),
      ],
    });
    expect(responses['404']).toMatchObject({
      description: 'Not found: `thing_deleted`, `thing_not_found`',
      content: {
        'application/json': {
          examples: {
            thing_not_found: { value: { detail: 'Thing not found' } },
            thing_deleted: {
              value: { detail: { code: 'thing_deleted', message: 'Thing deleted', error_code: 'thing_deleted' } },
            },
          },
        },
      },
    });
    expect(responses['503']).toEqual({ $ref: '#/components/responses/web_NONE_503' });
    expect(document.components.responses).toHaveProperty('web_NONE_503');
  });

  it('puts a refusal of its own beside the answer of validation', () => {
    const { responses } = documented('/things', 'POST', {
      refuses: [refusal('idempotency_key_reused', 422, 'Another body')],
    });
    expect(responses['422']).toMatchObject({
      content: {
        'application/json': {
          schema: { anyOf: [{ $ref: '#/components/schemas/HTTPValidationError' }, { $ref: '#/components/schemas/HTTPError' }] },
        },
      },
    });
  });

  it('declares refusals by code and status, and one status for each code of an operation', () => {
    const twice: string[] = [];
    for (const { method, path, meta } of buildRouteTable(appRouter)) {
      const declared = [...(meta.refuses ?? []), ...(meta.guardRefuses ?? [])];
      for (const { code, status } of declared) {
        expect({ path, code, status }).toEqual({
          path,
          code: expect.stringMatching(/^[a-z][a-z0-9_]*$/),
          status: expect.any(Number),
        });
      }
      const statuses = Map.groupBy(declared, ({ code }) => code);
      for (const [code, list] of statuses)
        if (new Set(list.map(({ status }) => status)).size > 1) twice.push(`${method} ${path} ${code}`);
    }
    expect(twice).toEqual([]);
  });
});
