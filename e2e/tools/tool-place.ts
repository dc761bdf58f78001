import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { needTool } from './install-tool.ts';
import type { ToolName } from './tool-table.ts';

/** Where tools run: a home of their own, and environment that leads them to the scripted model. */
export interface ToolPlace {
  readonly home: string;
  readonly claudeDir: string;
  readonly codexDir: string;
  /** Everything a tool needs; nothing of the person who runs the scenario. */
  readonly env: Readonly<Record<string, string>>;
}

export interface ToolPlaceOptions {
  /** A directory of the scenario. */
  folder: string;
  /** The tools whose commands are on the PATH, in this order. */
  tools: readonly ToolName[];
  /** `baseUrl` of the scripted model. */
  modelUrl: string;
  /** `env` of the recording proxy. */
  proxyEnv: Readonly<Record<string, string>>;
  /** How Claude Code is logged in: by a key, or by the token of a subscription. */
  claudeLogin?: 'key' | 'subscription';
}

/** The model that Codex asks for by its configuration. */
export const codexModel = 'gpt-5.5';

/** Makes a home with the settings by which each tool calls the scripted model. */
export function makeToolPlace(options: ToolPlaceOptions): ToolPlace {
  const { folder, tools, modelUrl, proxyEnv, claudeLogin = 'key' } = options;
  const home = join(folder, 'home');
  const claudeDir = join(home, '.claude');
  const codexDir = join(home, '.codex');
  const geminiDir = join(home, '.gemini');
  for (const path of [claudeDir, codexDir, geminiDir]) mkdirSync(path, { recursive: true });
  writeFileSync(join(codexDir, 'config.toml'), codexConfig(modelUrl));
  keepOpencodeOffline(home);
  const geminiSettings = { security: { auth: { selectedType: 'gemini-api-key' } } };
  writeFileSync(join(geminiDir, 'settings.json'), JSON.stringify(geminiSettings));
  const bins = tools.map((name) => needTool(name).bin);
  return {
    home,
    claudeDir,
    codexDir,
    env: {
      PATH: [...bins, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
      HOME: home,
      XDG_DATA_HOME: join(home, '.local/share'),
      ...proxyEnv,
      CLAUDE_CONFIG_DIR: claudeDir,
      CODEX_HOME: codexDir,
      ANTHROPIC_BASE_URL: modelUrl,
      ...(claudeLogin === 'key'
        ? { ANTHROPIC_API_KEY: 'sk-ant-scripted-model' }
        : { CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-scripted-model' }),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      SCRIPTED_MODEL_KEY: 'scripted-model-key',
      GOOGLE_GEMINI_BASE_URL: modelUrl,
      GEMINI_API_KEY: 'scripted-model-key',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeConfig(modelUrl)),
    },
  };
}

function codexConfig(modelUrl: string): string {
  return [
    `model = "${codexModel}"`,
    'model_provider = "scripted"',
    'check_for_update_on_startup = false',
    '[model_providers.scripted]',
    'name = "scripted"',
    `base_url = "${modelUrl}/v1"`,
    'wire_api = "responses"',
    'env_key = "SCRIPTED_MODEL_KEY"',
    '[analytics]',
    'enabled = false',
    // Each start would otherwise ask github.com and chatgpt.com for the catalog of plugins.
    '[features]',
    'plugins = false',
    'remote_plugin = false',
    'apps = false',
    '',
  ].join('\n');
}

/** It installs this package at each start, unless its directory seems to have it already. */
function keepOpencodeOffline(home: string): void {
  const folder = join(home, '.config/opencode');
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  const root = { dependencies: { '@opencode-ai/plugin': '*' } };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages: { '': root } }));
}

function opencodeConfig(modelUrl: string): object {
  return {
    model: 'scripted/scripted-model',
    autoupdate: false,
    share: 'disabled',
    provider: {
      scripted: {
        npm: '@ai-sdk/anthropic',
        options: { baseURL: `${modelUrl}/v1`, apiKey: 'scripted-model-key' },
        models: { 'scripted-model': { name: 'Scripted' } },
      },
    },
  };
}
