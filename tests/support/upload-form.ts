/** A `multipart/form-data` body with one file, for the clients of `api.ts`. */
export class UploadForm {
  readonly contentType = `multipart/form-data; boundary=${BOUNDARY}`;
  readonly payload: Buffer;

  /** @param field name of the form field; another one than the operation's is a form without its file */
  constructor(content: Buffer | string, type: string, { field = 'file', filename = 'image' } = {}) {
    const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${field}"; filename="${filename}"\r\nContent-Type: ${type}\r\n\r\n`;
    this.payload = Buffer.concat([Buffer.from(head), Buffer.from(content), Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
  }
}

const BOUNDARY = 'form-of-a-test';
