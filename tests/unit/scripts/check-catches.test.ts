/** The check that no `catch` turns a database that cannot be reached into another error (spec 10 D1). */
import { describe, expect, it } from 'vitest';
import { swallowedErrors } from '../../../scripts/check-catches.ts';

const linesOf = (source: string): number[] => swallowedErrors(source).map(({ line }) => line);
const aBlock = (handler: string, tried = 'await readOrder(app, id);') => `async function run(app: App) {
  try {
    ${tried}
  } ${handler}
}`;

describe('a catch that is refused', () => {
  it.each([
    ['turns it into another error', 'catch (error) {\n    throw paymentFailed({ cause: error });\n  }'],
    [
      'acts on it',
      'catch (error) {\n    await deletePurchase(app, id);\n    throw error instanceof Error ? gone(error) : gone();\n  }',
    ],
    ['logs it', "catch (error) {\n    app.log.warn({ err: error }, 'failed');\n  }"],
    ['has no name for it', 'catch {\n    return null;\n  }'],
    ['passes on only what it knows', 'catch (error) {\n    if (isGone(error)) throw error;\n    return null;\n  }'],
    ['only says something', 'catch (error) {\n    // It does not matter.\n    return null;\n  }'],
    ['gives no reason', 'catch (error) {\n    // Any failure:\n    return null;\n  }'],
  ])('%s', (_name, handler) => {
    expect(linesOf(aBlock(handler))).toEqual([4]);
  });

  it.each([
    ['a transaction', 'await inTransaction(app, (t) => sell(t));'],
    ['a statement', "await this.#db.sql('SELECT 1');"],
    ['a part of the request', 'await readOrder(ctx.app, id);'],
    ['a statement beside a port', 'await app.ports.payments.ask(await app.db.sql(text));'],
  ])('around %s', (_name, tried) => {
    expect(linesOf(aBlock('catch {\n    return null;\n  }', tried))).toEqual([4]);
  });

  it('of a promise, whatever is in front of it', () => {
    expect(
      linesOf("const found = await read(app).catch(() => null);\nreturn call(app)\n  .then(show)\n  .catch(() => 'none');"),
    ).toEqual([1, 4]);
  });
});

describe('a catch that is accepted', () => {
  it.each([
    [
      'rethrows what a database that is away throws',
      'catch (error) {\n    rethrowUnavailable(error);\n    throw gone(error);\n  }',
    ],
    ['asks for it', 'catch (error) {\n    return isDatabaseUnavailable(error) ? later() : gone();\n  }'],
    ['ends with the error', "catch (error) {\n    log.warn('failed');\n    throw error;\n  }"],
    ['throws all but what it knows', 'catch (error) {\n    if (!isGone(error)) throw error;\n    return null;\n  }'],
    ['throws all but one code', 'catch (error) {\n    if (sqlState(error) !== TAKEN) throw error;\n    return null;\n  }'],
    ['chooses between its error and the given one', 'catch (error) {\n    throw isGone(error) ? gone() : error;\n  }'],
    ['says why everything ends there', 'catch (error) {\n    // Any failure: of one payment.\n    app.log.warn(error);\n  }'],
  ])('%s', (_name, handler) => {
    expect(linesOf(aBlock(handler))).toEqual([]);
  });

  it.each([
    ['nothing that is awaited', 'parse(app, text);'],
    ['a port', 'await app.ports.payments.ask(app.clock.now(), app.settings.get(key));'],
    ['a file', 'await readFile(path);'],
  ])('around %s', (_name, tried) => {
    expect(linesOf(aBlock('catch {\n    return null;\n  }', tried))).toEqual([]);
  });

  it('has its reason at the line before, and that of another catch does not count', () => {
    expect(linesOf('// Any failure: the next round repeats it.\nawait read(app).catch(() => null);')).toEqual([]);
    expect(
      linesOf(
        '// Any failure: the next round repeats it.\nawait read(app).catch(() => null);\n\nawait read(app).catch(() => null);',
      ),
    ).toEqual([4]);
  });
});
