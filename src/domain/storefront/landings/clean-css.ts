/**
 * Cleans an administrator's style sheet for a public page (spec 03 H23): it cannot leave its `<style>` element, load anything but
 * https images and fonts, or run code.
 *
 * Escapes, markup and control characters are removed first, because a browser reads words that they hide. Then each forbidden word is
 * replaced by a blank and not by nothing, because its neighbours could join to a new forbidden word.
 */
export function cleanCss(css: string): string {
  const plain = withoutEscapes(css)
    // Without these the style element cannot be closed, and no comment of the page around it opened.
    .replace(/[<\\]/g, '')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are removed
    .replace(/[\u0000-\u0008\u000b\u000e-\u001f\u007f]/g, '');
  return plain
    .replace(/@(?:import|charset|namespace)\b[^;{}]*;?/gi, ' ')
    .replace(/\bexpression\s*\(/gi, ' (')
    .replace(/(?:-moz-binding|\bbehaviou?r)\s*:/gi, ' x-removed:')
    .replace(/\b(url|src)\(\s*("[^"]*"|'[^']*'|[^)"']*)\s*\)?/gi, (_whole, name: string, target: string) =>
      cleanUrl(name, target),
    )
    .replace(/\b(?:javascript|vbscript|data|blob|file|ftp|http)\s*:/gi, ' ');
}

/** Replaces escapes by their characters, as a browser reads them. */
function withoutEscapes(css: string): string {
  return css.replace(
    /\\(?:([0-9a-f]{1,6})[ \t\n\f]?|\r?\n|([^0-9a-f]))/gi,
    (_whole, hex: string | undefined, sign: string | undefined) => {
      if (hex === undefined) return sign ?? '';
      const point = Number.parseInt(hex, 16);
      return point === 0 || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff) ? '' : String.fromCodePoint(point);
    },
  );
}

/** Keeps an https address without characters that could end it early; any other becomes empty. */
function cleanUrl(name: string, target: string): string {
  const address = target.replace(/^["']|["']$/g, '').trim();
  return /^https:\/\/[^\s"'()<>{};]+$/i.test(address) ? `${name}("${address}")` : `${name}("")`;
}
