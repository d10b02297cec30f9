/** A `multipart/form-data` body as clients of the Bot API send it: texts, and at most one file. */

export interface SentFile {
  name: string;
  contentType: string;
  bytes: Buffer;
}

/** Fields by name; JSON is parsed, as the Bot API does with keyboards. Null for a body that is no form. */
export function formBody(contentType: string, body: Buffer): Record<string, unknown> | null {
  const boundary = /^multipart\/form-data;.*boundary="?([^";]+)/.exec(contentType)?.[1];
  if (boundary === undefined) return null;
  const fields: Record<string, unknown> = {};
  for (const part of partsOf(body, Buffer.from(`--${boundary}`))) {
    const end = part.indexOf('\r\n\r\n');
    if (end < 0) continue;
    const head = part.subarray(0, end).toString('utf8');
    const name = /name="([^"]*)"/.exec(head)?.[1];
    if (name === undefined) continue;
    const content = part.subarray(end + 4, part.length - 2);
    const fileName = /filename="([^"]*)"/.exec(head)?.[1];
    const type = /^content-type:\s*(\S+)/im.exec(head)?.[1] ?? 'application/octet-stream';
    fields[name] =
      fileName === undefined
        ? fieldValue(content.toString('utf8'))
        : { name: fileName, contentType: type, bytes: Buffer.from(content) };
  }
  return fields;
}

/** Everything between two boundaries, with the line break before the second. */
function partsOf(body: Buffer, boundary: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let start = body.indexOf(boundary); start >= 0; ) {
    const next = body.indexOf(boundary, start + boundary.length);
    if (next < 0) break;
    parts.push(body.subarray(start + boundary.length + 2, next));
    start = next;
  }
  return parts;
}

function fieldValue(text: string): unknown {
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  if (!/^[[{]/.test(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

export function isSentFile(value: unknown): value is SentFile {
  return typeof value === 'object' && value !== null && 'bytes' in value && Buffer.isBuffer(value.bytes);
}
