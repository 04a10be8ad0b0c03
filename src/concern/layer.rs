//! What all layers have in common: their settings, and the service that they make.

/// Makes a type with the fields `concern` and `settings` a layer, and gives it [`settings_of`].
macro_rules! layer_of {
    ($layer:ident, $concern:ty) => {
        crate::concern::settings_of!($layer);

        impl<S> tower_layer::Layer<S> for $layer {
            type Service = crate::concern::ConcernService<S, $concern>;

            fn layer(&self, inner: S) -> Self::Service {
                crate::concern::ConcernService::new(inner, self.concern.clone(), self.settings.clone())
            }
        }
    };
}

/// Lets a layer with a field `settings` choose them, all at once or one by one.
macro_rules! settings_of {
    ($layer:ident) => {
        impl $layer {
            /// Chooses all [`Settings`](crate::concern::Settings) at once. Those that were chosen before go.
            #[must_use]
            pub fn settings(mut self, settings: crate::concern::Settings) -> Self {
                self.settings = settings;
                self
            }

            /// Chooses which requests are MCP. See [`Predicate`](crate::exchange::Predicate).
            #[must_use]
            pub fn predicate(mut self, predicate: impl crate::exchange::Predicate) -> Self {
                self.settings = self.settings.predicate(predicate);
                self
            }

            /// Bounds what is read. See [`Limits`](crate::exchange::Limits).
            #[must_use]
            pub fn limits(mut self, limits: crate::exchange::Limits) -> Self {
                self.settings = self.settings.limits(limits);
                self
            }

            /// Declares the tools behind which the inner service hides its catalogue. See
            /// [`MetaTools`](crate::concern::MetaTools).
            #[must_use]
            pub fn meta_tools(mut self, meta_tools: crate::concern::MetaTools) -> Self {
                self.settings = self.settings.meta_tools(meta_tools);
                self
            }

            /// Bounds the bytes of lists that are remembered; 0 for none. See
            /// [`Settings::remembered_bytes`](crate::concern::Settings::remembered_bytes).
            #[must_use]
            pub fn remembered_bytes(mut self, bytes: usize) -> Self {
                self.settings = self.settings.remembered_bytes(bytes);
                self
            }

            /// Chooses how the audience of a request is known. See [`AudienceSource`](crate::exchange::AudienceSource).
            #[must_use]
            pub fn audience(mut self, audience: impl crate::exchange::AudienceSource) -> Self {
                self.settings = self.settings.audience(audience);
                self
            }
        }
    };
}

pub(crate) use {layer_of, settings_of};
