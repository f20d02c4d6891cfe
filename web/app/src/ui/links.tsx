import './links.css';
import { ActionIcon, type ActionIconProps, Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { createLink, type LinkProps } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, ReactNode, Ref } from 'react';

/** Attributes of the element that Mantine's properties do not already name. */
type ElementProps<Own> = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof Own> & {
  ref?: Ref<HTMLAnchorElement>;
};

type Path = NonNullable<LinkProps['to']>;

/** Pages of a project that need no further parameter. */
export type ProjectPath = Exclude<Extract<Path, `/p/$projectId${string}`>, `/p/$projectId/${string}$${string}`>;

/** Pages of one resource of a project, such as a contact. */
export type ResourcePath = Extract<Path, `/p/$projectId/${string}/$id`>;

/** A link that is stored before it is shown. Make it with `linkOptions`, which checks parameters and search. */
export type PageLink = Pick<LinkProps, 'to' | 'params' | 'search'>;

/** Links to pages of this application. The compiler checks the route, its parameters and its search. */
export const TextLink = createLink((props: AnchorProps & ElementProps<AnchorProps>) => <Anchor {...props} />);

export const ButtonLink = createLink((props: ButtonProps & ElementProps<ButtonProps>) => (
  <Button component="a" {...props} />
));

export const IconLink = createLink((props: ActionIconProps & ElementProps<ActionIconProps>) => (
  <ActionIcon component="a" {...props} />
));

/** Leads from a page to the list or resource above it. */
export const BackLink = createLink(({ children, ...props }: ElementProps<object> & { children?: ReactNode }) => (
  <Anchor size="sm" className="back-link" {...props}>
    <IconArrowLeft size={14} aria-hidden /> {children}
  </Anchor>
));
