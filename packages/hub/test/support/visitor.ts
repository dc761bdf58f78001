import assert from 'node:assert/strict';
import type { Endpoint, RequestOf, ResponseOf } from '@signalbox/contract';
import type { TObject } from 'typebox';

/** The answer to a request, refused or not. */
export interface Answer {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

/** A browser with a cookie jar, or a program with a token. */
export class Visitor {
  readonly #address: string;
  readonly cookies = new Map<string, string>();
  token: string | null = null;

  constructor(address: string) {
    this.#address = address;
  }

  withToken(token: string | null): this {
    this.token = token;
    return this;
  }

  async send(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await this.post(path, body, headers);
    const answered = (await response.json()) as Record<string, unknown>;
    return { status: response.status, headers: response.headers, body: answered };
  }

  /** Sends a body as JSON, a string as it is. */
  async post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(this.#address + path, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: {
        'content-type': 'application/json',
        ...(path.startsWith('/console-api/') ? { 'sec-fetch-site': 'same-origin' } : {}),
        ...(cookie === '' ? {} : { cookie }),
        ...(this.token === null ? {} : { authorization: `Bearer ${this.token}` }),
        ...headers,
      },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }

  /** Calls an endpoint and expects success. */
  async call<Req extends TObject, Res extends TObject>(
    endpoint: Endpoint<Req, Res>,
    body: RequestOf<Endpoint<Req, Res>>,
  ): Promise<ResponseOf<Endpoint<Req, Res>>> {
    const { status, body: answer } = await this.send(endpoint.path, body);
    assert.equal(status, 200, `${endpoint.name}: ${JSON.stringify(answer)}`);
    return answer as ResponseOf<Endpoint<Req, Res>>;
  }

  /** Calls an endpoint and says how it went: `ok`, or the code of the refusal. */
  async codeOf<Req extends TObject, Res extends TObject>(
    endpoint: Endpoint<Req, Res>,
    body: RequestOf<Endpoint<Req, Res>>,
  ): Promise<string> {
    const { body: answer } = await this.send(endpoint.path, body);
    return answer.ok === true ? 'ok' : String(answer.error);
  }
}
