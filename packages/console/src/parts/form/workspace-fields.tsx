import type { ComponentProps } from 'react';
import { SLUG_CHARS_MAX, slugFor } from '../../format/slug.ts';
import { TextField } from './field.tsx';

interface WorkspaceFieldsProps {
  /** The form, which may have further fields. */
  fields: {
    bind: (
      name: 'workspaceName' | 'workspaceSlug',
    ) => Omit<ComponentProps<typeof TextField>, 'label'>;
    values: { workspaceName: string; workspaceSlug: string };
  };
}

/** The name and the slug of a new workspace. */
export function WorkspaceFields({ fields }: WorkspaceFieldsProps) {
  return (
    <>
      <TextField label="Workspace name" maxLength={200} {...fields.bind('workspaceName')} />
      <TextField
        label="Workspace slug"
        hint="Part of addresses and commands: lower-case letters, digits and inner dashes."
        maxLength={SLUG_CHARS_MAX}
        autoCapitalize="none"
        spellCheck={false}
        {...fields.bind('workspaceSlug')}
        value={slugFor(fields.values)}
      />
    </>
  );
}
