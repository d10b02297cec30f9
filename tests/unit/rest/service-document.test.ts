import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { findSchemaPlaces, gapMessage } from '../../../scripts/checks/schema-places.ts';
import { listFiles, projectRoot, readFiles } from '../../../scripts/checks/source-files.ts';
import { refusal } from '../../../src/core/errors.ts';
import { describeDocument } from '../../../src/rest/describe-document.ts';
import { documentRefusals } from '../../../src/rest/document-refusals.ts';
import { buildServiceDocument } from '../../../src/rest/service-document.ts';
import type { OperationMeta } from '../../../src/routers/operation-meta.ts';
import { documented, meta, open, Thing, t, thingRouter } from './rest-fixture.ts';

const service = buildServiceDocument();
const things = () => documented(thingRouter).document;

describe('texts of the document', () => {
  it('takes the text of a field and of a parameter from its schema', () => {
    const input = z.object({ limit: z.int().default(50).describe('Greatest number of things.') });
    const output = z.object({ owner: Thing.nullable().describe('Owner; null for none.') });
    const router = t.router({
      list: open
        .meta(meta('GET', '/things'))
        .input(input)
        .output(output)
        .query(() => ({ owner: null })),
    });
    const { document } = documented(router);
    const { parameters, responses } = document.paths['/things']!.get!;
    expect(parameters).toEqual([
      {
        name: 'limit',
        in: 'query',
        required: false,
        description: 'Greatest number of things.',
        schema: { type: 'integer', default: 50 },
      },
    ]);
    expect(responses['200']).toMatchObject({
      content: { 'application/json': { schema: { properties: { owner: { description: 'Owner; null for none.' } } } } },
    });
    expect(describeDocument(document, {}).undescribed).not.toContain('parameter GET /things.limit');
  });

  it('describes a reference without a change of what it refers to', () => {
    const output = z.object({ first: Thing.describe('The oldest one.') });
    const router = t.router({
      read: open
        .meta(meta('GET', '/things'))
        .output(output)
        .query(() => ({}) as never),
    });
    const { document } = documented(router);
    expect(document.paths['/things']!.get!.responses['200']).toMatchObject({
      content: {
        'application/json': {
          schema: { properties: { first: { $ref: '#/components/schemas/Thing', description: 'The oldest one.' } } },
        },
      },
    });
    expect(document.components.schemas.Thing).not.toHaveProperty('description');
  });

  it('reports what has no text and texts that nothing uses', () => {
    const gaps = describeDocument(things(), { nowhere: 'Nothing.' });
    expect(gaps.undescribed).toContain('operation GET /things');
    expect(gaps.undescribed).toContain('property Thing.name');
    expect(gaps.undescribed).toContain('parameter GET /things.limit');
    expect(gaps.unused).toEqual(['nowhere']);
  });

  it('leaves nothing of the service without a text', () => {
    const { document, gaps } = service;
    expect(gaps).toEqual({ undescribed: [], unused: [] });
    expect(document.info.version).toBe('1.0.0');
    expect(document.tags.map((tag) => tag.name)).toEqual(
      document.tags.map((tag) => tag.name).toSorted((a, b) => a.localeCompare(b, 'en')),
    );
  });
});

it('a date of an answer is `Timestamp`, which the document calls date-time', () => {
  const sources = readFiles(projectRoot, listFiles(projectRoot, 'src/routers'));
  const dating = sources.filter(({ text }) => /\bz\s*\.date\(\)/.test(text));
  expect(dating.map(({ path }) => path)).toEqual(['src/routers/shared.schemas.ts']);
});

describe('the file of what has no text', () => {
  it('is named with the field', async () => {
    const places = await findSchemaPlaces(projectRoot);
    expect(gapMessage('property TicketListResponse.items', places)).toBe(
      'without a description: property TicketListResponse.items, a field of a schema in src/routers/cabinet/tickets.schemas.ts',
    );
    // Its id is made of a constant, and the component of answers is another one.
    expect(gapMessage('property CabinetAdminPromoOffersPromoOfferResponseOutput.user', places)).toContain(
      'src/routers/admin/promo-offers.router.ts',
    );
    expect(gapMessage('parameter GET /stats/full.days', places)).toMatch(/ in src\/routers\/web\/stats\.router\.ts$/);
    expect(gapMessage('parameter GET /cabinet/tickets.page', places)).toBe(
      'without a description: parameter GET /cabinet/tickets.page, a parameter of a schema in ' +
        'src/routers/cabinet/tickets.router.ts or src/routers/cabinet/tickets.schemas.ts',
    );
    expect(gapMessage('tag stats', places)).toContain('src/rest/descriptions/tag-descriptions.ts');
  });

  it('is found for every component and operation of the service', async () => {
    const places = await findSchemaPlaces(projectRoot);
    const { document } = service;
    const files = [
      ...Object.keys(document.components.schemas).map((name) => [name, places.ofComponent(name)]),
      ...Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => [path, places.ofOperation(`${method.toUpperCase()} ${path}`)[0]]),
      ),
    ];
    expect(files.filter(([, file]) => file === undefined || !existsSync(join(projectRoot, file)))).toEqual([]);
    const errors = files.filter(([, file]) => file?.startsWith('src/rest/')).map(([name]) => name);
    expect(errors).toEqual(['HTTPError', 'HTTPValidationError', 'HTTPValidationIssue']);
  });
});

describe('refusals of the document', () => {
  const refusing = (path: `/${string}`, method: string, meta: Pick<OperationMeta, 'refuses' | 'guardRefuses'>) => {
    const document = things();
    documentRefusals(document, [{ method, path, meta }]);
    return { document, responses: document.paths[path]![method.toLowerCase()]!.responses };
  };

  it('lists the refusals of an operation with code and sample, those of its guard once for all operations', () => {
    const { document, responses } = refusing('/things/{thing_id}', 'GET', {
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
    const { responses } = refusing('/things', 'POST', {
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
    for (const { method, path, meta } of service.routes) {
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
