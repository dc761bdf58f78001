import Type from 'typebox';
import { Id, List, Nullable, Ok, OneOf, Text } from '../../schema.ts';
import { exampleIds } from '../example-ids.ts';
import { defineConsoleEndpoint } from './fields.ts';

/** The rights that an assistant may be given, as OAuth names them. */
export const assistantScopes = ['read', 'enqueue', 'answer'] as const;
export type AssistantScope = (typeof assistantScopes)[number];

const AssistantScopes = List(OneOf(assistantScopes), assistantScopes.length);
const Query = Text(4_000, {
  minLength: 1,
  description: 'The query of the authorization request (RFC 6749, section 4.1.1), as it came.',
});
const WORKSPACES_MAX = 1_000;

const exampleQuery =
  'response_type=code&client_id=https%3A%2F%2Fassistant.example%2Fclient.json' +
  '&redirect_uri=http%3A%2F%2F127.0.0.1%3A4711%2Fcallback&scope=read+enqueue&state=k3' +
  '&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256' +
  '&resource=https%3A%2F%2Fsignalbox.acme.dev%2Fmcp';

export const assistantConsents = {
  open: defineConsoleEndpoint({
    name: 'consoleAssistantConsentOpen',
    path: '/console-api/v1/assistant-consents/open',
    repeat: 'safe',
    summary: 'Show what an assistant asks for',
    description:
      'Checks an authorization request and finds its client. Changes nothing. A request that is ' +
      'not valid is refused with INVALID_REQUEST, and must not be sent back to its client.',
    request: Type.Object({ query: Query }),
    response: Ok({
      clientHost: Nullable(
        Text(255, { description: 'Proved by its document. Null: the client registered itself.' }),
      ),
      clientName: Nullable(Text(200, { description: 'Chosen by the client: proves nothing.' })),
      redirectHost: Text(255, { description: 'Who gets the answer.' }),
      isLoopback: Type.Boolean({ description: 'Whether that is a program on the same machine.' }),
      scopes: AssistantScopes,
      workspaces: List(
        Type.Object({
          workspaceId: Id('workspace'),
          name: Text(200),
          scopes: List(
            OneOf(assistantScopes),
            assistantScopes.length,
            'Those of the request that the role of the person has.',
          ),
        }),
        WORKSPACES_MAX,
      ),
    }),
    example: {
      request: { query: exampleQuery },
      response: {
        ok: true,
        clientHost: 'assistant.example',
        clientName: 'Assistant',
        redirectHost: '127.0.0.1',
        isLoopback: true,
        scopes: ['read', 'enqueue'],
        workspaces: [
          { workspaceId: exampleIds.workspace, name: 'Acme', scopes: ['read', 'enqueue'] },
        ],
      },
    },
  }),
  answer: defineConsoleEndpoint({
    name: 'consoleAssistantConsentAnswer',
    path: '/console-api/v1/assistant-consents/answer',
    repeat: 'once',
    summary: 'Allow or refuse what an assistant asks for',
    description:
      'Answers where to send the browser: with a code that is valid for a minute, or with ' +
      'access_denied. To allow, name the workspace and the scopes, of those that were asked for.',
    request: Type.Object({
      query: Query,
      decision: OneOf(['allow', 'refuse']),
      workspaceId: Type.Optional(Id('workspace')),
      scopes: Type.Optional(AssistantScopes),
    }),
    response: Ok({ redirectTo: Text(8_000) }),
    example: {
      request: {
        query: exampleQuery,
        decision: 'allow',
        workspaceId: exampleIds.workspace,
        scopes: ['read'],
      },
      response: {
        ok: true,
        redirectTo:
          'http://127.0.0.1:4711/callback?code=kq0Vv9mYc4Yt3o1mJm0o9bXQe7r2nZ5uTq8hWd1sLxA&state=k3' +
          '&iss=https%3A%2F%2Fsignalbox.acme.dev',
      },
    },
  }),
} as const;
