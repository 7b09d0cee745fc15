//! Attributes and instances removed from an entity: what is left is copied.

use super::edit::Editor;
use super::rules::Cut;
use crate::{AttributeView, EntityView, Error, Instances};

impl Editor {
    /// Appends what a removal leaves.
    pub(super) fn cut_attributes(&mut self, existing: &EntityView<'_>, cut: &Cut<'_>) -> Result<(), Error> {
        for attribute in existing.attributes() {
            let name = attribute.name();
            match cut {
                Cut::Instances(cut_name, instances) if *cut_name == name => {
                    self.cut_instances(&attribute, instances)?;
                }
                Cut::Attributes { names, keep } if names.contains(&name) != *keep => self.touched(name),
                _ => self.out.extend_from_slice(attribute.bytes()),
            }
        }
        match cut {
            Cut::Instances(name, instances) if self.change.updated.is_empty() => {
                let dataset = match instances {
                    Instances::Dataset(dataset) => Some(dataset.clone()),
                    Instances::Default | Instances::All => None,
                };
                Err(Error::NoSuchAttribute(*name, dataset))
            }
            _ => Ok(()),
        }
    }

    fn cut_instances(&mut self, attribute: &AttributeView<'_>, instances: &Instances) -> Result<(), Error> {
        self.put_instances(attribute.name(), |editor| {
            for instance in attribute.instances() {
                if instances.means(instance.dataset()) {
                    editor.touched(attribute.name());
                } else {
                    editor.out.extend_from_slice(instance.bytes());
                }
            }
            Ok(())
        })
    }
}
